import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { skim, type Fields } from './skim.ts';

/** The expected result: parses the whole value and then removes the other fields. */
function project(value: unknown, fields: Fields): unknown {
  if (fields === true || typeof value !== 'object' || value === null) {
    return value;
  }
  if (Array.isArray(value)) {
    return value.map((each) => project(each, fields));
  }
  const wanted = Object.entries(value).filter(([name]) => Object.hasOwn(fields, name));
  return Object.fromEntries(wanted.map(([name, each]) => [name, project(each, fields[name] ?? true)]));
}

const name = fc.constantFrom('items', 'metadata', 'name', 'spec', 'labels', 'other');
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom(null, true, false, 0, -1.5e-7, '', 'plain', '"\\', '\\\\"', '{[,:]}', 'é\u2028🙂\n'),
    fc.string(),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(name, fc.string()), tie('value'), { maxKeys: 5, noNullPrototype: true }),
  ),
}));
const { fields } = fc.letrec<{ fields: Fields }>((tie) => ({
  fields: fc.oneof(
    { maxDepth: 4 },
    fc.constant(true as const),
    fc.dictionary(name, tie('fields'), { maxKeys: 4, noNullPrototype: true }),
  ),
}));

describe('skimming', () => {
  it('returns exactly the wanted fields of any JSON, however it is formatted', () => {
    fc.assert(
      fc.property(value, fields, fc.constantFrom(0, 2), (given, wanted, indent) => {
        expect(skim(Buffer.from(JSON.stringify(given, undefined, indent)), wanted)).toEqual(project(given, wanted));
      }),
      { numRuns: 1_000 },
    );
  });

  it.each(['', '{', '{"items":[', '{"items":[{}', '{"items":"a', '{"other":{"a":1', '{"items":[]} x', '[1,'])(
    'refuses %j, which is not JSON',
    (text) => {
      expect(() => skim(Buffer.from(text), { items: true })).toThrow(SyntaxError);
    },
  );
});
