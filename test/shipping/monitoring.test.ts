import { readFile } from 'node:fs/promises';
import { expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { findFunctions } from '../../lib/cli/functions.ts';
import { countDeadLetters } from '../../lib/programs/dead-letter.ts';
import { renderFunction } from '../../lib/install/manifests/function-manifests.ts';
import { standardInstallation } from '../../lib/install/manifests/installation.ts';
import { functionMetrics, createMetrics } from '../../lib/runtime/metrics.ts';
import { measuresOf } from '../../lib/tls/measures.ts';

/** Names of series in any expression of the file, without what Prometheus derives from a histogram. */
async function metricsIn(file: string): Promise<Set<string>> {
  const text = await readFile(file, 'utf8');
  return new Set((text.match(/\bkube_reflex_[a-z_.+]+/g) ?? []).map((name) => name.replace(/_bucket$/, '')));
}

it.each(['deploy/monitoring/rules.yaml', 'deploy/monitoring/dashboard.json'])(
  '%s asks only for metrics that there are',
  async (file) => {
    const { registry } = createMetrics('1.2.3');
    countDeadLetters(registry);
    measuresOf(functionMetrics(registry, 'some-function'));
    const known = registry.getMetricsAsArray().map(({ name }) => name);
    const asked = await metricsIn(file);

    expect(asked.size).toBeGreaterThan(4);
    for (const name of asked) {
      expect(known).toContainEqual(expect.stringMatching(new RegExp(`^${name}$`)));
    }
  },
);

it('deploy/monitoring/README.md gives Prometheus the label that lets it reach every webhook', async () => {
  const text = await readFile('deploy/monitoring/README.md', 'utf8');
  const [, block = ''] = /^```yaml\n(.*?)^```$/ms.exec(text) ?? [];
  const { labels } = (parse(block) as { spec: { podMetadata: { labels: object } } }).spec.podMetadata;
  const functions = await findFunctions('functions');

  const policies = functions
    .flatMap(({ definition }) => renderFunction(definition, standardInstallation).manifests)
    .filter(({ kind }) => kind === 'NetworkPolicy');

  expect(policies.length).toBeGreaterThan(0);
  for (const policy of policies) {
    const from = [{ namespaceSelector: {}, podSelector: { matchLabels: labels } }];
    const ports = [{ protocol: 'TCP', port: 8080 }];
    expect(policy).toMatchObject({ spec: { ingress: expect.arrayContaining([{ from, ports }]) } });
  }
});
