import { describe, expect, it } from '@jest/globals';
import type { KubeObject } from '../../kube/model/wire.ts';
import { builtInCells } from '../cells/built-in.ts';
import { builtInKinds, type Kind, resourceName } from '../model/kinds.ts';
import { createSchemas } from '../schema/schema.ts';
import { readDefinitionTable, readKindTable } from '../schema/tables.ts';
import { tableOf } from './table.ts';
import { anyKind } from '../test/kind.ts';

const kinds = builtInKinds(readKindTable(), createSchemas(readDefinitionTable()));
const now = new Date('2026-01-01T01:00:00Z');
const metadata = { name: 's', creationTimestamp: '2026-01-01T00:00:00Z' };

function kindNamed(name: string): Kind {
  const kind = kinds.find((each) => resourceName(each) === name);
  if (kind === undefined) {
    throw new Error(`no ${name}`);
  }
  return kind;
}

function cells(kind: Kind, object: KubeObject): unknown {
  const table = tableOf({ kind, objects: [object], metadata: {}, include: 'None', now });
  return (table as { rows: { cells: unknown[] }[] }).rows[0]?.cells;
}

const template = { spec: { containers: [{ name: 'a', image: 'b' }] } };
const selector = { matchLabels: { a: 'b' }, matchExpressions: [{ key: 'c', operator: 'In', values: ['d', 'e'] }] };

describe('tables', () => {
  it.each([
    ['configmaps', { data: { a: '1' }, binaryData: { b: '' } }, ['s', 2, '60m']],
    ['secrets', { type: 'Opaque', data: {} }, ['s', 'Opaque', 0, '60m']],
    ['namespaces', { status: { phase: 'Active' } }, ['s', 'Active', '60m']],
    [
      'pods',
      {
        spec: { nodeName: 'n', containers: [{}, {}] },
        status: {
          phase: 'Running',
          podIP: '1.2.3.4',
          containerStatuses: [{ ready: true, restartCount: 0 }, { ready: false }],
        },
      },
      ['s', '1/2', 'Running', '0', '60m', '1.2.3.4', 'n', '<none>', '<none>'],
    ],
    [
      'pods',
      {
        spec: { containers: [{}] },
        status: { containerStatuses: [{ state: { waiting: { reason: 'CrashLoopBackOff' } } }] },
      },
      ['s', '0/1', 'CrashLoopBackOff', '0', '60m', '<none>', '<none>', '<none>', '<none>'],
    ],
    [
      'deployments.apps',
      {
        spec: { replicas: 3, selector, template },
        status: { readyReplicas: 1, updatedReplicas: 2, availableReplicas: 1 },
      },
      ['s', '1/3', 2, 1, '60m', 'a', 'b', 'a=b,c in (d,e)'],
    ],
    [
      'services',
      { spec: { type: 'NodePort', clusterIP: '10.0.0.1', ports: [{ port: 80, nodePort: 30_000 }] } },
      ['s', 'NodePort', '10.0.0.1', '<none>', '80:30000/TCP', '60m', '<none>'],
    ],
    [
      'services',
      { spec: { type: 'LoadBalancer' } },
      ['s', 'LoadBalancer', '<none>', '<pending>', '<none>', '60m', '<none>'],
    ],
    [
      'ingresses.networking.k8s.io',
      { spec: { rules: [{ host: 'a' }, {}, { host: 'c' }, { host: 'd' }], tls: [{}] } },
      ['s', '<none>', 'a,*,c + 1 more...', '', '80, 443', '60m'],
    ],
    [
      'nodes',
      { spec: { unschedulable: true }, status: { conditions: [{ type: 'Ready', status: 'True' }] } },
      ['s', 'Ready,SchedulingDisabled', '<none>', '60m', '', '<none>', '<none>', '<unknown>', '<unknown>', '<unknown>'],
    ],
    [
      'jobs.batch',
      { spec: { completions: 2, template }, status: {} },
      ['s', 'Running', '0/2', '', '60m', 'a', 'b', '<none>'],
    ],
    ['poddisruptionbudgets.policy', { spec: { minAvailable: '50%' } }, ['s', '50%', 'N/A', 0, '60m']],
    ['clusterroles.rbac.authorization.k8s.io', {}, ['s', metadata.creationTimestamp]],
    [
      'events',
      {
        type: 'Normal',
        reason: 'R',
        message: 'm',
        involvedObject: { kind: 'Pod', name: 'p' },
        lastTimestamp: '2026-01-01T00:59:00Z',
      },
      ['60s', 'Normal', 'R', 'pod/p', '', '', 'm', '60s', 1, 's'],
    ],
  ])('show %s with %j', (name, object, expected) => {
    expect(cells(kindNamed(name), { metadata, ...object })).toEqual(expected);
  });

  it('have code for every column of a kind, or show its name and age alone', () => {
    const common = new Set(['Name', 'Age', 'Created At']);
    const kindsWithCells = kinds.filter((kind) => builtInCells[resourceName(kind)] !== undefined);
    const missing = kindsWithCells.flatMap((kind) =>
      kind.columns
        .filter(({ name }) => !common.has(name) && builtInCells[resourceName(kind)]?.[name] === undefined)
        .map(({ name }) => `${resourceName(kind)}: ${name}`),
    );

    expect(missing).toEqual([]);
    expect(cells(kindNamed('storageclasses.storage.k8s.io'), { metadata })).toEqual(['s', '60m']);
  });

  it('read the columns of custom kinds by their paths', () => {
    const custom = anyKind({
      isCustom: true,
      columns: [
        { name: 'Name', type: 'string', format: 'name', priority: 0 },
        { name: 'Size', type: 'integer', format: '', priority: 0, jsonPath: '.spec.size' },
        {
          name: 'Ready',
          type: 'string',
          format: '',
          priority: 0,
          jsonPath: '.status.conditions[?(@.type=="Ready")].status',
        },
        { name: 'Since', type: 'date', format: '', priority: 0, jsonPath: '.metadata.creationTimestamp' },
        { name: 'None', type: 'string', format: '', priority: 0, jsonPath: '.spec.none' },
      ],
    });
    const object = { metadata, spec: { size: 3 }, status: { conditions: [{ type: 'Ready', status: 'True' }] } };

    expect(cells(custom, object)).toEqual(['s', 3, 'True', '60m', null]);
  });
});
