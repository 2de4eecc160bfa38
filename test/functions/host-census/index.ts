import { configMaps, ingresses, namespaces } from '../../../lib/kube/model/resource.ts';
import { defineFunction } from '../../../lib/runtime/define.ts';
import { admitIngress } from './act/admit.ts';
import { status } from './act/status.ts';
import { sync } from './act/sync.ts';
import { conditions } from './conditions.ts';
import { Config } from './config.ts';
import { recountType } from './names.ts';
import { permissions } from './permissions.ts';

/** The smallest function that uses every part of the runtime: contract tests and `npm start` run it. */
export default defineFunction({
  name: 'host-census',
  summary: 'keeps a ConfigMap with every host that an Ingress asks for',
  config: Config,
  on: ({ CONFIG_MAP }) => [
    { resource: ingresses, mode: 'Reference', scope: 'cluster', handle: sync },
    { resource: configMaps, mode: 'Resource', scope: 'own', names: [CONFIG_MAP], handle: sync },
    { resource: namespaces, mode: 'Resource', scope: 'cluster', handle: sync },
    { type: recountType, handle: sync },
  ],
  tick: { schedule: '*/5 * * * *', handle: sync },
  admit: () => [
    {
      path: '/validate',
      type: 'validating',
      onError: 'allow',
      timeoutSeconds: 3,
      webhooks: [
        {
          name: 'validate.host-census.kube-reflex.dev',
          failurePolicy: 'Ignore',
          rules: [
            {
              operations: ['CREATE', 'UPDATE'],
              apiGroups: ['networking.k8s.io'],
              apiVersions: ['v1'],
              resources: ['ingresses'],
            },
          ],
        },
      ],
      decide: admitIngress,
    },
  ],
  routes: [{ method: 'GET', path: '/status', handle: (_request, context) => status(context) }],
  permissions,
  conditions,
});
