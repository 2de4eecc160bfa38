import { defineFunction } from '../../runtime/define.ts';
import type { Context } from '../../function/definition.ts';
import type { Wake } from '../../function/triggers.ts';
import { configMaps } from '../../kube/model/resource.ts';
import { Config } from './config.ts';
import { plan, selector } from './plan.ts';
import { observe } from './sources.ts';

export default defineFunction<Config>({
  name: 'function-name',
  summary: 'annotates every ConfigMap that asks for it with the names of its keys',
  config: Config,
  on: () => [
    // `own` is the namespace of the function. With `cluster` here and below it would work everywhere.
    { resource: configMaps, mode: 'Reference', scope: 'own', selector, key: 'object', handle: sync },
  ],
  tick: { schedule: '*/5 * * * *', handle: sync },
  permissions: () => [{ groups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'patch'], scope: 'own' }],
});

/** Read what matters, decide, write the difference. */
async function sync({ kube, namespace, config }: Context<Config>, wake: Wake): Promise<void> {
  await kube.run(plan(await observe(kube, namespace, wake), config));
}
