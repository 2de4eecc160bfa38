import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import type { KubeObject } from '../../kube/model/wire.ts';
import { withDefaults } from './defaults.ts';
import { createSchemas, type Schema } from '../schema/schema.ts';
import { readDefinitionTable, readKindTable } from '../schema/tables.ts';

/** What the real API server stored for what it was sent, without what it draws or derives when it creates. */
interface Sample {
  readonly sent: KubeObject;
  readonly stored: KubeObject;
}

const samples = JSON.parse(
  readFileSync(new URL('../testdata/defaults.json', import.meta.url), 'utf8'),
) as readonly Sample[];
const schemas = createSchemas(readDefinitionTable());
const kinds = readKindTable();

function schemaOf({ apiVersion, kind }: KubeObject): Schema {
  const found = kinds.find(
    (entry) => entry.kind === kind && [`${entry.group}/${entry.version}`, entry.version].includes(apiVersion ?? ''),
  );
  return schemas.of(found?.schema ?? '');
}

describe('defaults', () => {
  it.each(samples)('of a $sent.kind are those of the API server ($#)', ({ sent, stored }) => {
    expect(withDefaults(sent, schemaOf(sent))).toEqual(stored);
  });

  it.each(samples)('of a $sent.kind leave a stored one as it is ($#)', ({ stored }) => {
    expect(withDefaults(stored, schemaOf(stored))).toEqual(stored);
  });
});

it.each([
  ['i', 'Always'],
  ['i:latest', 'Always'],
  ['i:1', 'IfNotPresent'],
  ['host:5000/i', 'Always'],
  ['host:5000/i:1', 'IfNotPresent'],
  ['i@sha256:ab', 'IfNotPresent'],
])('pulls image %s %s', (image, policy) => {
  const container = withDefaults({ name: 'c', image }, schemas.of('io.k8s.api.core.v1.Container'));

  expect(container).toMatchObject({ imagePullPolicy: policy });
});
