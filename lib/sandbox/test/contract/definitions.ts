import type { Body } from './client.ts';
import { expectCode, uniqueName, type Scratch } from './scratch.ts';
import { eventually, until } from './watching.ts';

export const definitionsPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** A custom kind in a group of its own, so that cases do not meet. */
export interface CustomKind {
  readonly group: string;
  readonly definition: Body;
  /** Path of the collection in the scratch namespace. */
  readonly path: string;
  readonly object: (name: string, fields?: object, metadata?: object) => object;
}

export interface KindOptions {
  readonly schema?: object;
  /** Further fields of the version. */
  readonly version?: object;
  /** Further fields of the spec. */
  readonly spec?: object;
}

/** `Widget`, plural `widgets`, short name `wd`, in a group that nobody else uses. */
export function widgetDefinition(group: string, { schema = {}, version = {}, spec = {} }: KindOptions = {}): object {
  const openAPIV3Schema = { type: 'object', ...schema };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `widgets.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList', shortNames: ['wd'] },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema }, ...version }],
      ...spec,
    },
  };
}

export function uniqueGroup(): string {
  return `${uniqueName('g')}.example.com`;
}

/** Registers a kind and waits until it is served. */
export async function registerWidgets(scratch: Scratch, options: KindOptions = {}): Promise<CustomKind> {
  const { call, client, namespace } = scratch;
  const group = uniqueGroup();
  expectCode(201, await call('POST', definitionsPath, { body: widgetDefinition(group, options) }));
  const definition = await until(client, definitionsPath, `widgets.${group}`, isEstablished);
  const path = `/apis/${group}/v1/namespaces/${namespace}/widgets`;
  await eventually(
    () => call('GET', path),
    ({ code }) => code !== 404, // established a moment before it is served
  );
  function object(name: string, fields: object = {}, metadata: object = {}): object {
    return { apiVersion: `${group}/v1`, kind: 'Widget', metadata: { name, ...metadata }, ...fields };
  }
  return { group, definition, path, object };
}

export function conditionsOf({ status }: Body): Record<string, string> {
  const { conditions } = (status ?? {}) as { conditions?: { type: string; status: string }[] | null };
  return Object.fromEntries((conditions ?? []).map((condition) => [condition.type, condition.status]));
}

/** What an Invalid answer says of each field. */
export function causesOf({ details }: Body): [string | undefined, string | undefined][] {
  return (details?.causes ?? []).map(({ field, message }) => [field, message]);
}

function isEstablished(definition: Body): boolean {
  return conditionsOf(definition)['Established'] === 'True';
}
