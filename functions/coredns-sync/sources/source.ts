import type { IngressClass, Namespace, Resource } from '../../../lib/kube/model/resource.ts';
import type { Fields } from '../../../lib/kube/skim.ts';
import type { KubeObject } from '../../../lib/kube/model/wire.ts';
import type { Policy } from '../policy.ts';
import type { Gateway } from './gateway.ts';

/** A kind of object that asks for hosts: one file each. */
export interface Source<T extends KubeObject = KubeObject> {
  readonly resource: Resource<T>;
  /** Brought by a CustomResourceDefinition: the kind may go, with all of its objects. */
  readonly custom: boolean;
  /** The setting that names objects of this kind to leave out. */
  readonly excluded: 'EXCLUDE_INGRESSES' | 'EXCLUDE_HTTPROUTES' | 'EXCLUDE_INGRESSROUTES';
  /** What one label `*` covers in this API. */
  readonly wildcard: 'label' | 'suffix';
  /** What of an object's spec and status `needs` and `asks` look at: of a list, nothing else is read. */
  readonly reads: { readonly spec: Fields; readonly status?: Fields };
  /** Kinds of objects that its own refer to: without them nothing is known of what it asks for. */
  readonly refersTo: readonly (keyof World)[];
  /** What else must be read to know what an object asks for. */
  readonly needs: (object: T, policy: Policy) => Needs;
  /** The hosts that an object asks for, as it writes them: nobody has checked them yet. */
  readonly asks: (object: T, policy: Policy, world: World) => readonly Ask[];
}

export interface Ask {
  readonly host: string;
  /** Position among all mappings. */
  readonly mapping: number;
}

/** Objects that other objects refer to. */
export interface Needs {
  /** `namespace/name`. */
  readonly gateways?: readonly string[];
  readonly namespaces?: readonly string[];
  readonly classes?: boolean;
}

/** What was read of them. */
export interface World {
  readonly gateways: ReadonlyMap<string, Gateway>;
  readonly namespaces: ReadonlyMap<string, Namespace>;
  readonly classes: readonly IngressClass[];
}

export const emptyWorld: World = { gateways: new Map(), namespaces: new Map(), classes: [] };
