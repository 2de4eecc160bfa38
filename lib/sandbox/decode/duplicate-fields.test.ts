import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { duplicateFields } from './duplicate-fields.ts';

it.each([
  ['{"a":1,"a":2}', ['a']],
  ['{"a":{"b":1,"c":[{"d":1},{"d":1,"d":2}],"b":2}}', ['a.c[1].d', 'a.b']],
  ['{"a":"a\\"","b":"{\\"a\\":1,\\"a\\":2}","c":["a","a"]}', []],
  ['{"a\\"b":1,"a\\"b":1}', ['a"b']],
  ['{"a":{"x":1},"b":{"x":1}}', []],
  ['"a"', []],
])('finds fields that stand twice in %s', (text, expected) => {
  expect(duplicateFields(text)).toEqual(expected);
});

it('finds nothing in what JSON.stringify writes', () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => duplicateFields(JSON.stringify(value)).length === 0));
});
