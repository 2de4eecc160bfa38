import { defineFunction } from '../../lib/runtime/define.ts';
import { configMaps, mutatingWebhooks, namespaces } from '../../lib/kube/model/resource.ts';
import { Config, timeoutSeconds } from './config.ts';
import { bookkeeping, queueNames, stateName, statusName } from './names.ts';
import { permissions } from './permissions.ts';
import { confinement } from './policy.ts';
import { release } from './release.ts';
import { problemOf, readiness } from './ready.ts';
import { readStatus } from './report.ts';
import { noteChange, tick } from './run.ts';
import { openStore } from './state/store.ts';

export default defineFunction<Config>({
  name: 'istio-rollout',
  summary: 'restarts workloads whose Istio proxy is not the one that would be injected now, in waves',
  config: Config,
  ownDryRun: true,
  on: ({ ISTIO_NAMESPACES }) => [
    { resource: configMaps, mode: 'Reference', scope: { namespaces: ISTIO_NAMESPACES }, handle: noteChange },
    { resource: mutatingWebhooks, mode: 'Reference', scope: 'cluster', handle: noteChange },
    { resource: namespaces, mode: 'Reference', scope: 'cluster', handle: noteChange },
    { type: 'dev.kube-reflex.istio-rollout.scan', handle: tick },
    { type: 'dev.kube-reflex.istio-rollout.tick', handle: tick },
  ],
  tick: { schedule: '* * * * *', handle: tick },
  routes: [
    {
      method: 'GET',
      path: '/status',
      handle: async (_request, context) => ({ body: await readStatus({ context, store: await openStore(context) }) }),
    },
  ],
  loops: [readiness],
  ready: problemOf,
  permissions,
  objects: ({ RESTART_ANNOTATION, PROBE_MODE }, { namespace }) =>
    confinement({
      namespace,
      restartAnnotation: RESTART_ANNOTATION,
      bookkeeping: Object.values(bookkeeping),
      rehearsesPods: PROBE_MODE === 'dryRun',
    }),
  // A scan reads much at once: threads that each keep memory of their own cost it a tenth of its CPU. It seldom starts.
  scaling: { minScale: 1, cpu: '50m', memory: '256Mi', mallocArenas: 1 },
  timeoutSeconds,
  keeps: (_config, { namespace }) =>
    [stateName, statusName, ...queueNames].map((name) => ({ resource: configMaps, name, namespace })),
  release,
});
