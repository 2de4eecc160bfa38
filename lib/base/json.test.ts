import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { canonicalJson, isRecord, parseJson, recordOf } from './json.ts';

it.each([
  [{}, true],
  [{ a: 1 }, true],
  [[], false],
  [null, false],
  ['text', false],
  [undefined, false],
])('isRecord(%j) is %p', (value, expected) => {
  expect(isRecord(value)).toBe(expected);
  expect(recordOf(value)).toBe(expected ? value : undefined);
});

it('parses JSON and returns undefined for anything else', () => {
  expect(parseJson('{"a":1}')).toEqual({ a: 1 });
  expect(parseJson('{')).toBeUndefined();
  expect(parseJson(undefined)).toBeUndefined();
});

it('writes equal values equally, whatever the order of their keys', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (record) => {
      const reversed = Object.fromEntries(Object.entries(record).reverse());
      expect(canonicalJson(reversed)).toBe(canonicalJson(record));
      expect(JSON.parse(canonicalJson(record))).toEqual(JSON.parse(JSON.stringify(record)));
    }),
  );
});
