import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  decodeFields,
  difference,
  emptySet,
  encodeFields,
  type FieldSet,
  fieldSet,
  includes,
  intersection,
  isEmpty,
  paths,
  printPath,
  union,
  withoutBelow,
} from './field-set.ts';

const steps = fc.constantFrom('f:a', 'f:b', 'f:c', 'k:{"name":"x"}', 'v:"y"');
const sets = fc
  .array(fc.array(steps, { minLength: 1, maxLength: 4 }), { maxLength: 8 })
  .map((list) => fieldSet(...list));

function texts(set: FieldSet): string[] {
  return paths(set)
    .map((path) => path.join('/'))
    .sort();
}

describe('field sets', () => {
  it('survive the wire', () => {
    fc.assert(
      fc.property(sets, (set) => {
        expect(texts(decodeFields(encodeFields(set)))).toEqual(texts(set));
      }),
    );
  });

  it('unite, subtract and intersect as sets of paths', () => {
    fc.assert(
      fc.property(sets, sets, (a, b) => {
        const [left, right] = [texts(a), texts(b)];

        expect(texts(union(a, b))).toEqual([...new Set([...left, ...right])].sort());
        expect(texts(difference(a, b))).toEqual(left.filter((path) => !right.includes(path)));
        expect(texts(intersection(a, b))).toEqual(left.filter((path) => right.includes(path)));
      }),
    );
  });

  it('leave out all that lies below a path', () => {
    fc.assert(
      fc.property(sets, sets, (a, b) => {
        const cut = texts(b);
        const kept = texts(a).filter((path) => !cut.some((other) => path === other || path.startsWith(`${other}/`)));

        expect(texts(withoutBelow(a, b))).toEqual(kept);
      }),
    );
  });

  it('come back as the same object when nothing is taken away', () => {
    const set = fieldSet(['f:a', 'f:b'], ['f:c']);

    expect(difference(set, fieldSet(['f:z'], ['f:a', 'f:q']))).toBe(set);
    expect(isEmpty(difference(set, set))).toBe(true);
    expect(includes(set, ['f:a', 'f:b'])).toBe(true);
    expect(includes(set, ['f:a'])).toBe(false);
  });

  it('print paths as the API server does', () => {
    const path = ['f:spec', 'f:ports', 'k:{"containerPort":80,"protocol":"TCP"}', 'f:name'];

    expect(printPath(path)).toBe('.spec.ports[containerPort=80,protocol="TCP"].name');
    expect(printPath(['f:metadata', 'f:finalizers', 'v:"a.b/c"'])).toBe('.metadata.finalizers[="a.b/c"]');
  });

  it('read keys of an item in any order and ignore what they do not know', () => {
    const wire = { 'f:ports': { 'k:{"protocol":"TCP","containerPort":80}': { '.': {} } }, 'x:future': {} };

    expect(encodeFields(decodeFields(wire))).toEqual({
      'f:ports': { 'k:{"containerPort":80,"protocol":"TCP"}': {} },
    });
    expect(decodeFields(undefined).children).toEqual(emptySet.children);
  });
});
