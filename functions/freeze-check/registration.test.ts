import { describe, expect, it } from '@jest/globals';
import { parseConfig } from '../../lib/function/config.ts';
import { Config } from './config.ts';
import { admissions } from './registration.ts';

const vital =
  'kube-system,kube-public,kube-node-lease,cert-manager,knative-eventing,knative-operator,knative-serving,kourier-system';

/** The namespaces that each webhook about workloads selects, by its name. */
function selections(excluded: string): Readonly<Record<string, unknown>> {
  const config = parseConfig(Config, { EXCLUDED_NAMESPACES: excluded });
  const [workloads] = admissions(config, { namespace: 'kube-reflex' });
  return Object.fromEntries(
    (workloads?.webhooks ?? []).map(({ name, namespaceSelector }) => [name, namespaceSelector?.matchExpressions?.[0]]),
  );
}

describe('the webhooks about workloads', () => {
  it('are two: one of them for the namespaces by which a cluster is repaired', () => {
    expect(selections('kube-system')).toMatchObject({
      'vworkloads-v1alpha1.kb.io': { operator: 'NotIn' },
      'vworkloads-vital-v1alpha1.kb.io': { operator: 'In', values: vital.split(',').slice(1) },
    });
  });

  it('are one where all of those are excluded: the API server takes no selector without values', () => {
    expect(Object.keys(selections(vital))).toEqual(['vworkloads-v1alpha1.kb.io']);
  });
});
