import { describe, expect, it } from '@jest/globals';
import { exampleEnvironment, parseConfig } from '../../lib/function/config.ts';
import type { Permission } from '../../lib/function/permissions.ts';
import type { Watch } from '../../lib/function/triggers.ts';
import { apiVersion, groupVersion } from '../../lib/kube/model/resource.ts';
import { renderFunction } from '../../lib/install/manifests/function-manifests.ts';
import { renderShared } from '../../lib/install/manifests/shared.ts';
import { distinct, standardInstallation } from '../../lib/install/manifests/installation.ts';
import type { Manifest } from '../../lib/kube/model/manifest.ts';
import { startSandbox, type Sandbox } from '../../lib/sandbox/sandbox.ts';
import { ApiError } from '../../lib/sandbox/model/status.ts';
import { ProcessSettings } from '../../lib/function/settings.ts';
import { changeEvent, tickEvent } from '../../lib/source/event.ts';
import { admissionsOf, functionsUnderTest } from '../contract/functions.ts';

type Attributes = Readonly<Record<string, string>>;

interface Filter {
  readonly exact?: Attributes;
  readonly prefix?: Attributes;
  readonly any?: readonly Filter[];
}

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

interface SourceSpec {
  readonly mode: string;
  readonly resources: readonly { readonly apiVersion: string; readonly kind: string }[];
  readonly namespaceSelector?: object;
  readonly ceOverrides: { readonly extensions: Attributes };
}

const own = standardInstallation.namespace;

describe.each(await functionsUnderTest())('the manifests of $name', (definition) => {
  const { name, on, tick, permissions } = definition;
  const admits = admissionsOf(definition).length > 0;
  const { manifests } = renderFunction(definition);
  const shared = renderShared([definition]);
  const config = parseConfig(definition.config, exampleEnvironment(definition.config));

  it('bring each event that it waits for to it exactly once', () => {
    const watches = (on?.(config, standardInstallation) ?? []).filter((trigger) => 'resource' in trigger);
    const ticks = tick === undefined ? [] : [{ ...tickOf(name), fnsource: name }];
    const events = [...watches.flatMap(changesOf).flatMap(sentBySources), ...ticks];
    const triggers = manifests.filter(({ kind }) => kind === 'Trigger').map(filtersOf);

    expect(events).toHaveLength(watches.flatMap(changesOf).length + ticks.length);
    for (const event of events) {
      expect(triggers.filter((filters) => filters.every((filter) => passes(filter, event)))).toHaveLength(1);
    }
  });

  /** An event once for each source that would send it, stamped by it. */
  function sentBySources(event: Attributes): Attributes[] {
    const sources = [...manifests, ...shared].filter(({ kind }) => kind === 'ApiServerSource');
    return sources
      .filter((source) => watches(source, event))
      .map(({ spec }) => ({ ...event, ...(spec as SourceSpec).ceOverrides.extensions }));
  }

  it('keep the events of other functions away from it', () => {
    const watches = (on?.(config, standardInstallation) ?? []).filter((trigger) => 'resource' in trigger);
    const triggers = manifests.filter(({ kind }) => kind === 'Trigger').map(filtersOf);

    for (const event of [...watches.flatMap(changesOf), tickOf('another')]) {
      const stamped = { ...event, fnsource: 'another' };
      expect(triggers.filter((filters) => filters.every((filter) => passes(filter, stamped)))).toEqual([]);
    }
  });

  it('grant each workload the permissions that it asks for and no others', () => {
    const asked = permissions?.(config, standardInstallation) ?? [];

    expect(rightsOf(name, manifests)).toEqual(
      new Set(asked.filter(({ role }) => role !== 'admission').flatMap(rightsAskedBy)),
    );
    expect(rightsOf(`${name}-webhook`, manifests)).toEqual(
      new Set(!admits ? [] : asked.filter(({ role }) => role !== 'events').flatMap(rightsAskedBy)),
    );
  });

  it('let its sources read what it watches', () => {
    const watches = (on?.(config, standardInstallation) ?? []).filter((trigger) => 'resource' in trigger);
    const readable = watches.flatMap(({ resource, scope }) =>
      rightsAskedBy({
        groups: [resource.group],
        resources: [resource.plural],
        verbs: ['get', 'list', 'watch'],
        scope: resource.namespaced ? scope : 'cluster',
      }),
    );

    const granted = [...rightsOf(`${name}-source`, manifests), ...rightsOf('shared-source', shared)];
    expect(new Set(granted)).toEqual(new Set(readable));
    expect(granted).toHaveLength(new Set(readable).size);
  });

  it('name the ports that the process opens', () => {
    const { PORT, TLS_PORT } = parseConfig(ProcessSettings, {});
    const ports = manifests.flatMap(({ kind, spec }) =>
      [...JSON.stringify(spec ?? {}).matchAll(/"containerPort":(\d+)/g)].map(([, port]) => `${kind} ${port ?? ''}`),
    );

    expect(ports).toEqual([`Service ${PORT}`, ...(!admits ? [] : [`Deployment ${PORT}`, `Deployment ${TLS_PORT}`])]);
  });

  it('are taken by the API without a field too many', async () => {
    const sandbox = await startSandbox();
    try {
      for (const namespace of distinct(manifests.map(({ metadata }) => metadata.namespace ?? 'default'))) {
        const wanted = { metadata: { name: namespace } };
        await sandbox.api.create({ group: '', plural: 'namespaces' }, wanted).catch(unlessThere);
      }
      const core = manifests.filter((manifest) => pathOf(manifest, sandbox) !== undefined);
      const answers = await Promise.all(core.map((manifest) => dryRun(manifest, sandbox)));

      expect(core.length).toBeGreaterThan(2);
      expect(answers).toEqual(core.map(({ kind, metadata }) => `${kind} ${metadata.name}: 201`));
    } finally {
      await sandbox.close();
    }
  });

  it('name no object twice', () => {
    const names = manifests.map(({ apiVersion, kind, metadata }) =>
      [apiVersion, kind, metadata.namespace, metadata.name].join(' '),
    );

    expect(names).toEqual([...new Set(names)]);
  });
});

const stamp = { id: '1', time: new Date(0) };

/** Whether the source sends events like this one: its mode, its kind, and a place that it sees. */
function watches({ metadata, spec }: Manifest, event: Attributes): boolean {
  const { mode, resources, namespaceSelector } = spec as SourceSpec;
  const place = event['namespace'] ?? '';
  return (
    (event['type'] ?? '').startsWith(`dev.knative.apiserver.${mode === 'Reference' ? 'ref' : 'resource'}.`) &&
    resources.some(({ apiVersion, kind }) => apiVersion === event['apiversion'] && kind === event['kind']) &&
    (place === '' || namespaceSelector !== undefined || place === metadata.namespace)
  );
}

/** One event for each object that the watch may be about. */
function changesOf({ resource, mode, names = ['any'], scope }: Watch): Attributes[] {
  const places = typeof scope === 'object' ? scope.namespaces : [scope === 'own' ? own : 'somewhere'];
  return places.flatMap((namespace) =>
    names.map((name) => {
      const metadata = { name, ...(resource.namespaced ? { namespace } : {}) };
      const object = { apiVersion: apiVersion(resource), kind: resource.kind, metadata };
      const origin = { server: new URL('https://10.96.0.1'), namespace: own };
      return attributesOf(changeEvent({ change: 'update', object }, mode, origin, stamp).headers);
    }),
  );
}

/** Where to create it; nowhere if the API does not serve the kind by itself. */
function pathOf({ apiVersion, kind, metadata }: Manifest, { api }: Sandbox): string | undefined {
  const { group, version } = groupVersion(apiVersion);
  const served = api.kinds().find((each) => each.kind === kind && each.group === group && each.version === version);
  if (served === undefined) {
    return undefined;
  }
  const place = served.namespaced ? `/namespaces/${metadata.namespace ?? ''}` : '';
  return `${group === '' ? '/api/v1' : `/apis/${apiVersion}`}${place}/${served.plural}`;
}

async function dryRun(manifest: Manifest, sandbox: Sandbox): Promise<string> {
  const url = new URL(pathOf(manifest, sandbox) ?? '/', sandbox.httpUrl);
  url.search = 'dryRun=All&fieldValidation=Strict';
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(manifest) });
  const why = answer.ok ? '' : ` ${await answer.text()}`;
  return `${manifest.kind} ${manifest.metadata.name}: ${answer.status}${why}`;
}

function unlessThere(error: unknown): void {
  if (!(error instanceof ApiError && error.code === 409)) {
    throw error;
  }
}

function tickOf(name: string): Attributes {
  return attributesOf(tickEvent(`${name}-tick`, own, stamp).headers);
}

function attributesOf(headers: Readonly<Record<string, string>>): Attributes {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.replace(/^ce-/, ''), value]));
}

function filtersOf({ spec }: Manifest): readonly Filter[] {
  return (spec as { readonly filters: readonly Filter[] }).filters;
}

function passes({ exact = {}, prefix = {}, any }: Filter, event: Attributes): boolean {
  return (
    Object.entries(exact).every(([name, value]) => event[name] === value) &&
    Object.entries(prefix).every(([name, value]) => event[name]?.startsWith(value)) &&
    (any === undefined || any.some((filter) => passes(filter, event)))
  );
}

/** Every right that the account has by its bindings, as a line each. */
function rightsOf(account: string, manifests: readonly Manifest[]): Set<string> {
  const lines = manifests
    .filter(({ kind, subjects }) => kind.endsWith('RoleBinding') && isAbout(account, subjects))
    .flatMap(({ kind, metadata, roleRef }) => {
      const role = manifests.find(
        (candidate) =>
          `${candidate.kind}Binding` === kind &&
          candidate.metadata.name === (roleRef as { readonly name: string }).name &&
          candidate.metadata.namespace === metadata.namespace,
      );
      return ((role?.['rules'] ?? []) as readonly Rule[]).flatMap((rule) => linesOf(metadata.namespace, rule));
    });
  return new Set(lines);
}

function isAbout(account: string, subjects: unknown): boolean {
  return (subjects as readonly { readonly name: string }[]).every(({ name }) => name === account);
}

function rightsAskedBy({ groups, resources, names, verbs, scope }: Permission): string[] {
  const places = typeof scope === 'object' ? scope.namespaces : [scope === 'own' ? own : undefined];
  const rule = { apiGroups: groups, resources, ...(names === undefined ? {} : { resourceNames: names }), verbs };
  return places.flatMap((place) => linesOf(place, rule));
}

function linesOf(place: string | undefined, { apiGroups, resources, resourceNames = ['*'], verbs }: Rule): string[] {
  return apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      resourceNames.flatMap((name) =>
        verbs.map((verb) => `${place ?? 'everywhere'}: ${verb} ${resource}.${group} ${name}`),
      ),
    ),
  );
}
