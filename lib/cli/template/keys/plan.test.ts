import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import jsonPatch from 'fast-json-patch';
import type { ConfigMap } from '../../../kube/model/resource.ts';
import { keysAnnotation, watchLabel } from '../names.ts';
import { omissions, plan } from './plan.ts';

const settings = { MAX_KEYS: 3 };
const labels = { [watchLabel]: 'true' };
const identity = { name: 'one', namespace: 'default', resourceVersion: '7' };

describe('plan', () => {
  it.each([
    { keys: [], listed: '' },
    { keys: ['b', 'a'], listed: 'a,b' },
    { keys: ['d', 'c', 'b', 'a', 'e'], listed: 'a,b,c,+2' },
  ])('lists $keys as "$listed"', ({ keys, listed }) => {
    const data = Object.fromEntries(keys.map((key) => [key, 'value']));

    const after = applied({ metadata: { ...identity, labels }, data });

    expect(after.metadata?.annotations).toEqual({ [keysAnnotation]: listed });
  });

  it('leaves alone what does not ask for it', () => {
    expect(plan([{ metadata: identity, data: { a: '' } }], settings)).toEqual([]);
  });

  it('takes its annotation back when it is no longer asked for, and no other', () => {
    const annotations = { [keysAnnotation]: 'a', other: 'stays' };

    const after = applied({ metadata: { ...identity, annotations }, data: { a: '' } });

    expect(after.metadata?.annotations).toEqual({ other: 'stays' });
  });

  it('names those with more keys than may be listed', () => {
    const data = { a: '', b: '', c: '', d: '' };

    expect(omissions([{ metadata: { ...identity, labels }, data }], settings)).toEqual(['ConfigMap one has 4 keys']);
    expect(omissions([{ metadata: identity, data }], settings)).toEqual([]);
  });

  it('plans nothing on its own result, and never touches the data', () => {
    fc.assert(
      fc.property(anyConfigMap(), (before) => {
        const after = applied(before);

        expect(plan([after], settings)).toEqual([]);
        expect(after.data).toEqual(before.data);
      }),
    );
  });
});

/** The ConfigMap after the steps that are planned for it. */
function applied(configMap: ConfigMap): ConfigMap {
  const operations = plan([configMap], settings).flatMap((step) => (step.do === 'patch' ? step.operations : []));
  return jsonPatch.applyPatch(configMap, operations, true, false).newDocument;
}

function anyConfigMap(): fc.Arbitrary<ConfigMap> {
  const key = fc.stringMatching(/^[-._a-zA-Z0-9]{1,20}$/);
  return fc
    .record({
      labels: fc.constantFrom({}, labels),
      annotations: fc.constantFrom(undefined, {}, { other: 'stays' }, { [keysAnnotation]: 'old' }),
      data: fc.dictionary(key, fc.string(), { noNullPrototype: true }),
    })
    .map(({ labels, annotations, data }) => ({
      metadata: { ...identity, labels, ...(annotations === undefined ? {} : { annotations }) },
      data,
    }));
}
