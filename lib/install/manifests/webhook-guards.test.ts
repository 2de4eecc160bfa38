import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { guardsOf } from './webhook-guards.ts';

it('a webhook may reach the API server on its usual ports, including minikube and MicroK8s, as the README says', () => {
  const policy = guardsOf({ name: 'sample-webhook', namespace: 'kube-reflex', labels: {} }).find(
    ({ kind }) => kind === 'NetworkPolicy',
  );
  const { egress } = policy?.['spec'] as {
    readonly egress: readonly { readonly to?: unknown; readonly ports: readonly { readonly port: number }[] }[];
  };
  const open = egress
    .filter(({ to }) => to === undefined)
    .flatMap(({ ports }) => ports.map(({ port }) => port))
    .filter((port) => port !== 53);

  expect(open).toEqual([443, 6443, 8443, 16443]);
  expect(readFileSync('README.md', 'utf8')).toContain(`ports ${open.join(', ').replace(/, (\d+)$/, ' and $1')}`);
});
