import { describe, expect, it } from '@jest/globals';
import type { KubeObject } from '../../kube/model/wire.ts';
import { matchesFields, parseFieldSelector, selectedName } from './field-selector.ts';
import { builtInKinds, type Kind } from '../model/kinds.ts';
import { createSchemas } from '../schema/schema.ts';
import { readDefinitionTable, readKindTable } from '../schema/tables.ts';

const kinds = builtInKinds(readKindTable(), createSchemas(readDefinitionTable()));

function kindOf(plural: string, group = ''): Kind {
  const found = kinds.find((kind) => kind.plural === plural && kind.group === group);
  if (found === undefined) {
    throw new Error(`no ${plural}`);
  }
  return found;
}

function object(fields: object): KubeObject {
  return { metadata: { name: 'a', namespace: 'b' }, ...fields };
}

describe('field selectors', () => {
  it.each([
    ['pods', 'metadata.name=a', {}, true],
    ['pods', 'metadata.name!=a', {}, false],
    ['pods', 'metadata.name==a,metadata.namespace=b', {}, true],
    ['pods', 'spec.nodeName=', {}, true],
    ['pods', 'spec.nodeName=n', { spec: { nodeName: 'n' } }, true],
    ['pods', 'status.phase!=Running', { status: { phase: 'Running' } }, false],
    ['nodes', 'spec.unschedulable=false', {}, true],
    ['events', 'involvedObject.name=x', { involvedObject: { name: 'x' } }, true],
    ['events', 'involvedObject.name=x', { regarding: { name: 'x' } }, true],
    ['secrets', 'type=a\\,b', { type: 'a,b' }, true],
  ])('%s by %s of %j is %p', (plural, text, fields, expected) => {
    expect(matchesFields(parseFieldSelector(kindOf(plural), text), object(fields))).toBe(expected);
  });

  it.each([
    ['configmaps', 'data.a=1', '"data.a" is not a known field selector: only "metadata.name", "metadata.namespace"'],
    ['pods', 'spec.x=1', 'field label not supported: spec.x'],
    ['pods', 'spec', "invalid selector: 'spec'; can't understand 'spec'"],
  ])('refuses %s by %s', (plural, text, message) => {
    expect(() => parseFieldSelector(kindOf(plural), text)).toThrow(message);
  });

  it('knows when only one name is possible', () => {
    expect(selectedName(parseFieldSelector(kindOf('pods'), 'spec.nodeName=n,metadata.name=a'))).toBe('a');
    expect(selectedName(parseFieldSelector(kindOf('pods'), 'metadata.name!=a'))).toBeUndefined();
  });
});
