import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { valuesAt } from './json-path.ts';

const object = {
  spec: { size: 3, 'dotted.name': 'x', list: [1, 2] },
  status: { conditions: [{ type: 'Ready', status: 'True' }, { type: 'Other' }] },
};

describe('valuesAt', () => {
  it.each([
    ['.spec.size', [3]],
    ['spec.size', [3]],
    ['.spec.none', []],
    ['.spec.dotted\\.name', ['x']],
    [".spec['dotted.name']", ['x']],
    ['.spec.list[0]', [1]],
    ['.spec.list[-1]', [2]],
    ['.spec.list[*]', [1, 2]],
    ['.spec.list[7]', []],
    ['.status.conditions[?(@.type=="Ready")].status', ['True']],
    [".status.conditions[?(@.type=='None')].status", []],
  ])('%s', (path, expected) => {
    expect(valuesAt(object, path)).toEqual(expected);
  });

  it('never throws, whatever the path', () => {
    fc.assert(
      fc.property(fc.string(), fc.jsonValue(), (path, value) => {
        expect(() => valuesAt(value, path)).not.toThrow();
      }),
    );
  });
});
