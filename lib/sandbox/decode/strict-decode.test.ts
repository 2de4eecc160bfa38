import { describe, expect, it } from '@jest/globals';
import { createSchemas } from '../schema/schema.ts';
import { readDefinitionTable } from '../schema/tables.ts';
import { ApiError } from '../model/status.ts';
import { readObject, type Reading } from './strict-decode.ts';
import { printGo } from '../schema/go-types.ts';
import type { Json } from '../schema/value.ts';
import type { FieldValidation } from './write-options.ts';

const schema = createSchemas(readDefinitionTable()).of('io.k8s.api.apps.v1.Deployment');

function reading(text: string, fieldValidation: FieldValidation, warnings: string[] = []): Reading {
  return {
    kind: { group: 'apps', version: 'v1', kind: 'Deployment', schema, isCustom: false },
    object: JSON.parse(text) as Json,
    fieldValidation,
    warn: (warning) => warnings.push(warning),
  };
}

function refusal(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error instanceof ApiError ? [error.code, error.message] : error;
  }
}

describe('reading a body', () => {
  it.each([
    [
      '{"spec":{"replicas":"x"}}',
      'json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32',
    ],
    [
      '{"metadata":{"name":1}}',
      'json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type string',
    ],
    [
      '{"spec":{"template":{"spec":{"containers":"x"}}}}',
      'json: cannot unmarshal string into Go struct field PodSpec.spec.template.spec.containers of type []v1.Container',
    ],
    [
      '{"spec":{"template":{"spec":{"containers":[{"name":"x","image":4}]}}}}',
      'json: cannot unmarshal number into Go struct field Container.spec.template.spec.containers.image of type string',
    ],
    [
      '{"metadata":{"labels":{"a":1}}}',
      'json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string',
    ],
    [
      '{"spec":{"replicas":1.5}}',
      'json: cannot unmarshal number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32',
    ],
    [
      '{"spec":{"replicas":99999999999}}',
      'json: cannot unmarshal number 99999999999 into Go struct field DeploymentSpec.spec.replicas of type int32',
    ],
    ['{"spec":[]}', 'json: cannot unmarshal array into Go struct field Deployment.spec of type v1.DeploymentSpec'],
    [
      '{"spec":{"paused":"true"}}',
      'json: cannot unmarshal string into Go struct field DeploymentSpec.spec.paused of type bool',
    ],
    [
      '{"spec":{"selector":3}}',
      'json: cannot unmarshal number into Go struct field DeploymentSpec.spec.selector of type v1.LabelSelector',
    ],
    [
      '{"spec":{"strategy":{"rollingUpdate":{"maxSurge":true}}}}',
      'json: cannot unmarshal bool into Go struct field RollingUpdateDeployment.spec.strategy.rollingUpdate.maxSurge of type int32',
    ],
    [
      '{"metadata":{"creationTimestamp":"x"}}',
      'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"',
    ],
    [
      '{"spec":{"template":{"spec":{"containers":[{"resources":{"limits":{"cpu":"zz"}}}]}}}}',
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ],
    [
      '{"spec":{"foo":1,"replicas":2,"template":{"spec":{"containers":[{"x":1},{"nope":{}}]}}},"bar":2}',
      'strict decoding error: unknown field "spec.foo", unknown field "spec.template.spec.containers[0].x", unknown field "spec.template.spec.containers[1].nope", unknown field "bar"',
    ],
  ])('refuses %s as the API server does', (body, message) => {
    const about = 'Deployment in version "v1" cannot be handled as a Deployment: ';

    expect(refusal(() => readObject(reading(body, 'Strict')))).toEqual([400, about + message]);
  });

  it('warns about unknown fields and drops them', () => {
    const warnings: string[] = [];

    const object = readObject(reading('{"spec":{"foo":1,"replicas":2}}', 'Warn', warnings));

    expect(warnings).toEqual(['unknown field "spec.foo"']);
    expect(object).toEqual({ spec: { replicas: 2 } });
  });

  it('says nothing when asked to ignore them', () => {
    const warnings: string[] = [];

    readObject(reading('{"foo":1,"spec":{}}', 'Ignore', warnings));

    expect(warnings).toEqual([]);
  });

  it('drops nulls, empty lists and empty maps, and keeps empty structs', () => {
    const text = '{"metadata":{"labels":{},"finalizers":[],"annotations":null},"spec":{"strategy":{}}}';

    expect(readObject(reading(text, 'Strict'))).toEqual({ metadata: {}, spec: { strategy: {} } });
  });
});

describe('reading what a patch made', () => {
  it('shows the patch when a field is unknown', () => {
    const patch = { foo: 1, a: ['x', null] };
    const patched = { ...reading('{"foo":1}', 'Strict'), patched: printGo(patch) };

    expect(refusal(() => readObject(patched))).toEqual([
      422,
      ' "" is invalid: patch: Invalid value: "map[a:[x <nil>] foo:1]": strict decoding error: unknown field "foo"',
    ]);
  });
});
