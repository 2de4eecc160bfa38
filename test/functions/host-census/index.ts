import { defineFunction, type Context } from '../../../lib/function/define.ts';
import { configMaps, ingresses, namespaces } from '../../../lib/kube/resource.ts';
import { Config } from './config.ts';
import { plan } from './plan.ts';
import { observe } from './sources.ts';

/** The smallest function that uses every part of the runtime: contract tests and `npm start` run it. */
export default defineFunction({
  name: 'host-census',
  summary: 'keeps a ConfigMap with every host that an Ingress asks for',
  config: Config,
  on: ({ CONFIG_MAP }) => [
    { resource: ingresses, mode: 'Reference', scope: 'cluster', handle: sync },
    { resource: configMaps, mode: 'Resource', scope: 'own', names: [CONFIG_MAP], handle: sync },
    { resource: namespaces, mode: 'Resource', scope: 'cluster', handle: sync },
    { type: 'dev.kube-reflex.host-census.recount', handle: sync },
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
      decide: ({ object }) =>
        object?.metadata?.annotations?.['host-census.kube-reflex.dev/refuse'] === 'true'
          ? { allow: false, message: 'the annotation host-census.kube-reflex.dev/refuse asks for it' }
          : { allow: true },
    },
  ],
  routes: [
    {
      method: 'GET',
      path: '/status',
      handle: async (_request, { kube, namespace, config }) => {
        const census = await kube.get(configMaps, { namespace, name: config.CONFIG_MAP });
        return { body: { hosts: census?.data?.['hosts']?.split('\n').filter((host) => host !== '') ?? [] } };
      },
    },
  ],
  permissions: ({ CONFIG_MAP }) => [
    { groups: ['networking.k8s.io'], resources: ['ingresses'], verbs: ['list'], scope: 'cluster', role: 'events' },
    {
      groups: [''],
      resources: ['configmaps'],
      verbs: ['get', 'patch'],
      names: [CONFIG_MAP],
      scope: 'own',
      role: 'events',
    },
    { groups: [''], resources: ['configmaps'], verbs: ['create'], scope: 'own', role: 'events' },
  ],
});

async function sync({ kube, namespace, config }: Context<Config>): Promise<void> {
  const place = { namespace, name: config.CONFIG_MAP };
  await kube.run(plan(await observe(kube, place), place));
}
