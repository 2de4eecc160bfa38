import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import type { KubeObject, ManagedFieldsEntry } from '../../kube/model/wire.ts';
import { serverSideApply } from './apply.ts';
import { withDefaults } from '../defaults/defaults.ts';
import { trackManagers, type Writer } from './managed-fields.ts';
import { createSchemas, type Schema } from '../schema/schema.ts';
import { readDefinitionTable } from '../schema/tables.ts';
import { ApiError } from '../model/status.ts';
import { type Json, objectAt } from '../schema/value.ts';

/** One write, and what the real API server then had or said. */
interface Step {
  readonly op: 'create' | 'merge' | 'strategic' | 'apply';
  readonly manager: string;
  readonly force?: boolean;
  readonly subresource?: string;
  readonly body: KubeObject;
  readonly after?: KubeObject;
  readonly refused?: { readonly code: number; readonly message: string; readonly causes: unknown };
}

interface Story {
  readonly name: string;
  readonly definition: string;
  readonly steps: readonly Step[];
}

const stories = JSON.parse(
  readFileSync(new URL('../testdata/managed-fields.json', import.meta.url), 'utf8'),
) as readonly Story[];
const schemas = createSchemas(readDefinitionTable());

const rows = stories.flatMap(({ name, definition, steps }) =>
  steps.map((step, index) => ({
    title: `${name}: ${index + 1}. ${step.op} by ${step.manager}`,
    step,
    old: before(steps, index),
    schema: schemas.of(definition),
  })),
);

it.each(rows.filter(({ step }) => step.op !== 'apply'))('tracks who owns what: $title', ({ step, old, schema }) => {
  const after = withSentManagers(step);

  const entries = trackManagers({ ...writer(step, old), schema, ...(old && { before: old }), after });

  expect(entries).toEqual(entriesOf(step.after));
});

it.each(rows.filter(({ step }) => step.op === 'apply'))('applies: $title', ({ step, old, schema }) => {
  const { body: applied, force = false } = step;

  const result = outcome(() =>
    serverSideApply({ ...writer(step, old), schema, ...(old && { live: old }), applied, force }),
  );

  expect(comparable(result, schema)).toEqual(comparable(step.after ?? step.refused, schema));
});

function before(steps: readonly Step[], index: number): KubeObject | undefined {
  return steps.slice(0, index).findLast(({ after }) => after !== undefined)?.after;
}

function writer({ manager, body, subresource, after }: Step, live: KubeObject | undefined): Writer {
  return {
    manager,
    apiVersion: body.apiVersion ?? live?.apiVersion ?? '',
    ...(subresource === undefined ? {} : { subresource }),
    now: latest(after ?? live),
  };
}

function comparable(result: unknown, schema: Schema): unknown {
  const { status: _status, ...object } = result as KubeObject & { status?: unknown };
  if (object.metadata === undefined) {
    return result;
  }
  const { uid: _uid, namespace: _namespace, ...metadata } = object.metadata;
  return withoutAllotted({ ...withDefaults({ ...object, metadata }, schema) });
}

/** What a Service gets when it is stored. */
function withoutAllotted(object: Json): Json {
  const { clusterIPs: _ips, ipFamilies: _families, ipFamilyPolicy: _policy, ...spec } = objectAt(object, 'spec');
  return { ...object, spec };
}

function outcome(work: () => KubeObject): unknown {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ApiError)) {
      throw error;
    }
    return { code: error.code, message: error.message, causes: error.status.details?.causes };
  }
}

function latest(object: KubeObject | undefined): Date {
  const times = entriesOf(object).map(({ time }) => Date.parse(time ?? '1970-01-01T00:00:00Z'));
  return new Date(Math.max(0, ...times));
}

function entriesOf(object: KubeObject | undefined): readonly ManagedFieldsEntry[] {
  return object?.metadata?.managedFields ?? [];
}

/** The stored object as the tracker saw it: with the managed fields that the client sent, if it did. */
function withSentManagers({ after, body }: Step): KubeObject {
  const { managedFields: _, ...metadata } = after?.metadata ?? {};
  const sent = body.metadata?.managedFields;
  return { ...after, metadata: sent === undefined ? metadata : { ...metadata, managedFields: sent } };
}
