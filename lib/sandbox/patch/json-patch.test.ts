import { describe, expect, it } from '@jest/globals';
import { applyJsonPatch } from './json-patch.ts';

const document = { data: { a: 'b' }, list: [1, 2], 'x/y~z': 1 };

describe('a JSON patch', () => {
  it.each<[object, object]>([
    [
      { op: 'add', path: '/data/c', value: 'd' },
      { ...document, data: { a: 'b', c: 'd' } },
    ],
    [
      { op: 'add', path: '/list/-', value: 3 },
      { ...document, list: [1, 2, 3] },
    ],
    [
      { op: 'add', path: '/list/0', value: 0 },
      { ...document, list: [0, 1, 2] },
    ],
    [
      { op: 'remove', path: '/list/0' },
      { ...document, list: [2] },
    ],
    [
      { op: 'remove', path: '/x~1y~0z' },
      { data: { a: 'b' }, list: [1, 2] },
    ],
    [
      { op: 'replace', path: '/data/a', value: 7 },
      { ...document, data: { a: 7 } },
    ],
    [
      { op: 'replace', path: '/list/1', value: 7 },
      { ...document, list: [1, 7] },
    ],
    [{ op: 'replace', path: '', value: { whole: true } }, { whole: true }],
    [
      { op: 'move', from: '/data/a', path: '/data/z' },
      { ...document, data: { z: 'b' } },
    ],
    [
      { op: 'copy', from: '/data', path: '/copy' },
      { ...document, copy: { a: 'b' } },
    ],
    [{ op: 'test', path: '/data', value: { a: 'b' } }, document],
    [{ op: 'test', path: '/data/none', value: null }, document],
  ])('applies %j', (operation, expected) => {
    expect(applyJsonPatch(document, [operation])).toEqual(expected);
  });

  it.each([
    [{ op: 'add', path: '/no/c', value: 1 }, 'add operation does not apply: "/no/c": missing value'],
    [{ op: 'add', path: '/list/9', value: 1 }, 'add operation does not apply: "/list/9": invalid index'],
    [{ op: 'add', path: '/list/x', value: 1 }, '"/list/x": invalid index'],
    [{ op: 'remove', path: '/no/c' }, 'remove operation does not apply: "/no/c": missing value'],
    [{ op: 'remove', path: '/data/z' }, '"/data/z": missing value'],
    [{ op: 'remove', path: '/list/-' }, '"/list/-": missing value'],
    [{ op: 'remove', path: '/list/5' }, '"/list/5": missing value'],
    [{ op: 'replace', path: '/data/z/y', value: 1 }, '"/data/z/y": missing value'],
    [{ op: 'replace', path: '/data/z', value: 1 }, '"/data/z": missing value'],
    [{ op: 'move', from: '/data/z', path: '/q' }, '"/data/z": missing value'],
    [{ op: 'move', from: '/no/z', path: '/q' }, '"/no/z": missing value'],
    [{ op: 'copy', from: '/no/7', path: '/q' }, '"/no/7": missing value'],
    [{ op: 'copy', from: '/data', path: '/no/z' }, '"/no/z": missing value'],
    [{ op: 'test', path: '/data/a', value: 'z' }, 'test operation does not apply: "/data/a": test failed'],
    [{ op: 'test', path: '/no/a', value: 'z' }, '"/no/a": missing value'],
    [{ op: 'frob', path: '/data/a' }, 'Unexpected kind: frob'],
    [{ op: 'add' }, 'add operation does not apply: path: missing value'],
    [{ op: 'copy', path: '/a' }, 'copy operation does not apply: from: missing value'],
    [7, 'Unexpected kind: unknown'],
  ])('refuses %j', (operation, message) => {
    expect(() => applyJsonPatch(document, [operation])).toThrow(message);
  });

  it('leaves the given document alone', () => {
    const before = structuredClone(document);

    applyJsonPatch(document, [
      { op: 'add', path: '/list/-', value: 3 },
      { op: 'replace', path: '/data/a', value: {} },
    ]);

    expect(document).toEqual(before);
  });

  it('takes every key as data', () => {
    const patched = applyJsonPatch({}, [{ op: 'add', path: '/__proto__', value: { polluted: true } }]);

    expect(JSON.stringify(patched)).toBe('{"__proto__":{"polluted":true}}');
    expect((patched as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it('moves to the place that there is after the removal', () => {
    const patched = applyJsonPatch({ list: [1, { a: 1 }, {}] }, [{ op: 'move', from: '/list/0', path: '/list/0/b' }]);

    expect(patched).toEqual({ list: [{ a: 1, b: 1 }, {}] });
  });

  it('does not tie a copy to its source', () => {
    const patched = applyJsonPatch(document, [
      { op: 'copy', from: '/data', path: '/copy' },
      { op: 'add', path: '/copy/z', value: 1 },
    ]);

    expect(patched).toMatchObject({ data: { a: 'b' }, copy: { a: 'b', z: 1 } });
  });
});
