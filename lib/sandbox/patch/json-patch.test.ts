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
    [
      { op: 'add', path: '/no/c', value: 1 },
      'add operation does not apply: doc is missing path: "/no/c": missing value',
    ],
    [
      { op: 'add', path: '/list/9', value: 1 },
      "error in add for path: '/list/9': Unable to access invalid index: 9: invalid index referenced",
    ],
    [{ op: 'add', path: '/list/x', value: 1 }, "value was not a proper array index: 'x'"],
    [{ op: 'remove', path: '/no/c' }, 'remove operation does not apply: doc is missing path: "/no/c": missing value'],
    [
      { op: 'remove', path: '/data/z' },
      "error in remove for path: '/data/z': Unable to remove nonexistent key: z: missing value",
    ],
    [{ op: 'remove', path: '/list/-' }, 'strconv.Atoi: parsing "-": invalid syntax'],
    [{ op: 'remove', path: '/list/5' }, 'Unable to access invalid index: 5'],
    [
      { op: 'replace', path: '/data/z/y', value: 1 },
      'replace operation does not apply: doc is missing path: /data/z/y: missing value',
    ],
    [
      { op: 'replace', path: '/data/z', value: 1 },
      'replace operation does not apply: doc is missing key: /data/z: missing value',
    ],
    [{ op: 'move', from: '/data/z', path: '/q' }, "error in move for path: '/data/z'"],
    [{ op: 'move', from: '/no/z', path: '/q' }, 'move operation does not apply: doc is missing from path: /no/z'],
    [
      { op: 'copy', from: '/list/7', path: '/q' },
      "error in copy for from: '/list/7': Unable to access invalid index: 7",
    ],
    [
      { op: 'copy', from: '/data', path: '/no/z' },
      'copy operation does not apply: doc is missing destination path: /no/z',
    ],
    [{ op: 'test', path: '/data/a', value: 'z' }, 'testing value /data/a failed: test failed'],
    [{ op: 'test', path: '/no/a', value: 'z' }, 'test operation does not apply: is missing path: /no/a: missing value'],
    [{ op: 'frob', path: '/data/a' }, 'Unexpected kind: frob'],
    [{ op: 'add' }, 'add operation failed to decode path: missing value'],
    [{ op: 'copy', path: '/a' }, 'operation, missing from field: missing value'],
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

  it('does not tie a copy to its source', () => {
    const patched = applyJsonPatch(document, [
      { op: 'copy', from: '/data', path: '/copy' },
      { op: 'add', path: '/copy/z', value: 1 },
    ]);

    expect(patched).toMatchObject({ data: { a: 'b' }, copy: { a: 'b', z: 1 } });
  });
});
