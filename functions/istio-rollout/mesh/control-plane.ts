import type { ConfigMap } from '../../../lib/kube/model/resource.ts';
import { digestOf } from '../../../lib/base/digest.ts';
import { lastModified } from './last-modified.ts';

/** A revision as its injector ConfigMap describes it. */
export interface ControlPlane {
  readonly revision: string;
  /** Of what istiod reads: templates and values. */
  readonly hash: string;
  readonly changedAt: number;
  readonly hub?: string;
  readonly tag?: string;
  /** As configured: a name, or a whole reference where it holds a slash. */
  readonly image?: string;
  readonly variant?: string;
  /** Set when the values cannot be read: nothing about this revision may be taken for granted then. */
  readonly parseError?: string;
}

const revisionLabel = 'istio.io/rev';

export function isInjectorConfigMap(name: string): boolean {
  return name.startsWith('istio-sidecar-injector');
}

/** `istio` and `istio-<revision>` hold the mesh configuration, which shapes proxies beyond their image. */
export function isMeshConfigMap(name: string): boolean {
  return name === 'istio' || (name.startsWith('istio-') && !isInjectorConfigMap(name) && !isOther(name));
}

/** ConfigMaps of istiod that change often or mean nothing for injection. */
function isOther(name: string): boolean {
  return /^istio-(ca-|revision-tag-|namespace-|gateway-|leader|validation|cni|ztunnel)/.test(name);
}

export function controlPlaneOf(configMap: ConfigMap): ControlPlane {
  const { data = {}, metadata } = configMap;
  const known = { hash: digestOf([data['config'], data['values']]), changedAt: lastModified(configMap) };
  const label = metadata?.labels?.[revisionLabel];
  try {
    return { ...known, ...described(parseValues(data['values']), label) };
  } catch (error) {
    return { ...known, revision: orDefault(label), parseError: (error as { message: string }).message };
  }
}

interface Values {
  readonly revision?: unknown;
  readonly global?: {
    readonly revision?: unknown;
    readonly hub?: unknown;
    readonly tag?: unknown;
    readonly variant?: unknown;
    readonly proxy?: { readonly image?: unknown };
  };
}

function parseValues(text: string | undefined): Values {
  if (text === undefined) {
    throw new Error('it has no values');
  }
  const values: unknown = JSON.parse(text);
  if (typeof values !== 'object' || values === null || Array.isArray(values)) {
    throw new Error('its values are no JSON object');
  }
  return values;
}

function described(
  { revision, global = {} }: Values,
  label: string | undefined,
): Omit<ControlPlane, 'hash' | 'changedAt'> {
  const { hub, tag, variant, proxy } = global;
  return {
    revision: orDefault(textOf(revision) ?? textOf(global.revision) ?? label),
    ...present({ hub: textOf(hub), tag: textOf(tag), variant: textOf(variant), image: textOf(proxy?.image) }),
  };
}

/** Helm turns a tag such as 1.29 into a number. */
function textOf(value: unknown): string | undefined {
  return typeof value === 'number' || (typeof value === 'string' && value !== '') ? String(value) : undefined;
}

function orDefault(revision: string | undefined): string {
  return revision === undefined || revision === '' ? 'default' : revision;
}

function present(
  fields: Readonly<Record<'hub' | 'tag' | 'variant' | 'image', string | undefined>>,
): Partial<ControlPlane> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
