import { describe, expect, it } from '@jest/globals';
import { confinement } from './policy.ts';

describe('the policies that confine the account', () => {
  it.each([true, false])(
    'look at the creation of pods where it has that right, and only there: %s',
    (rehearsesPods) => {
      const manifests = confinement({
        namespace: 'kube-reflex',
        restartAnnotation: 'a',
        bookkeeping: [],
        rehearsesPods,
      });

      const rules = manifests.filter(({ kind }) => kind === 'ValidatingAdmissionPolicy').map(({ spec }) => spec);
      const creation = { resourceRules: [{ apiGroups: [''], operations: ['CREATE'], resources: ['pods'] }] };
      expect(rules).toHaveLength(rehearsesPods ? 2 : 1);
      expect(rules.slice(1)).toMatchObject(rehearsesPods ? [{ matchConstraints: creation }] : []);
      expect(new Set(manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).size).toBe(manifests.length);
    },
  );
});
