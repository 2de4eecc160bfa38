import { walkPlain } from '../real/platform/walk.ts';
import type { Figure } from './measure/figure.ts';

export const about =
  'the way of the README from the kubeconfig of a real API server to functions that react, without Knative';

const limitSeconds = 300;

export async function run(): Promise<readonly Figure[]> {
  await using walked = await walkPlain();
  const longest = walked.steps.toSorted((a, b) => b.seconds - a.seconds).slice(0, 3);
  return [
    {
      what: 'kubeconfig → deploy/plain runs and an Ingress has its rule',
      value: walked.steps.reduce((sum, { seconds }) => sum + seconds, 0),
      unit: 's',
      bar: { atMost: limitSeconds },
      measured: longest
        .map(({ what, seconds }) => `${what.split(' ').slice(0, 4).join(' ')}: ${seconds.toFixed(0)} s`)
        .join(', '),
    },
  ];
}
