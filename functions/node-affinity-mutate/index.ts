import { defineFunction } from '../../lib/runtime/define.ts';
import {
  configMaps,
  mutatingPolicies,
  mutatingPolicyBindings,
  namespaces,
  nodes,
} from '../../lib/kube/model/resource.ts';
import { admissionOf } from './admission.ts';
import { Config } from './config.ts';
import { explain } from './explain.ts';
import { functionName, policyName, rulesConfigMap, stateConfigMap } from './names.ts';
import { permissions } from './permissions.ts';
import { notReady, refresh } from './snapshot.ts';
import { sync } from './sync.ts';

export default defineFunction({
  name: functionName,
  summary: 'lets new pods prefer a worker pool as long as the pool has nodes',
  config: Config,
  on: ({ WATCH_NODES, POOL_LABEL_KEY, POOL_NAME }) => [
    { resource: namespaces, mode: 'Reference', scope: 'cluster', handle: sync },
    {
      resource: configMaps,
      mode: 'Reference',
      scope: 'own',
      names: [rulesConfigMap, stateConfigMap],
      handle: sync,
    },
    ...(WATCH_NODES
      ? [
          {
            resource: nodes,
            mode: 'Reference' as const,
            scope: 'cluster' as const,
            selector: { matchLabels: { [POOL_LABEL_KEY]: POOL_NAME } },
            handle: sync,
          },
        ]
      : []),
  ],
  tick: { schedule: '*/5 * * * *', handle: sync },
  admit: (config, site) => [admissionOf(config, site)],
  loops: [{ name: 'state', role: 'admission', everyMs: ({ REFRESH_SECONDS }) => REFRESH_SECONDS * 1000, run: refresh }],
  ready: notReady,
  routes: [{ method: 'POST', path: '/explain', handle: explain }],
  permissions,
  mounts: ({ STATE_DIR }) => [{ configMap: stateConfigMap, path: STATE_DIR }],
  // Whether a policy was asked for is not known any more once the workload is gone.
  keeps: (_config, { namespace }) => [
    ...[mutatingPolicyBindings, mutatingPolicies].map((resource) => ({ resource, name: policyName })),
    { resource: configMaps, name: stateConfigMap, namespace },
  ],
});
