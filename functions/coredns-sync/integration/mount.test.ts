import { describe, expect, it } from '@jest/globals';
import type { Deployment } from '../../../lib/kube/model/resource.ts';
import { planIntegration } from './plan.ts';
import { planRemoval } from './removal.ts';
import { corefile as kubeadm } from '../sandbox/coredns.ts';
import { deployment, hosts, mounted, observe, options, patched, volumeMounts } from '../testing/integration.ts';

describe('the mount', () => {
  function planMounted(live: Deployment): Deployment | undefined {
    const { steps } = planIntegration(observe(kubeadm, { deployment: live }), options, hosts);
    const found = steps.find(({ component }) => component === 'volume_mount');
    return found === undefined ? undefined : patched(live, found.step);
  }

  it('shows every shard there may ever be, whether or not it exists', () => {
    const after = planMounted(deployment());

    expect(after?.spec?.template.spec?.containers[0]?.volumeMounts).toEqual(volumeMounts);
    expect(after?.spec?.template.spec?.volumes).toEqual([
      {
        name: 'sync-volume',
        projected: {
          sources: ['rules', 'rules-1', 'rules-2', 'rules-3'].map((name) => ({ configMap: { name, optional: true } })),
        },
      },
    ]);
    expect(planMounted(after ?? deployment())).toBeUndefined();
  });

  it('CS-36 lets pods start while the ConfigMap is missing', () => {
    const sources = planMounted(deployment())?.spec?.template.spec?.volumes?.[0]?.projected?.sources ?? [];

    expect(sources.length).toBeGreaterThan(0);
    expect(sources.every(({ configMap }) => configMap?.optional === true)).toBe(true);
  });

  it('CS-33 lands in the container of CoreDNS and leaves from there, a sidecar before it stays as it is', () => {
    const sidecar = { name: 'sidecar', volumeMounts: [{ name: 'own', mountPath: '/data' }] };
    const before = deployment({ containers: [sidecar, { name: 'coredns' }], volumes: [{ name: 'own', emptyDir: {} }] });
    const after = planMounted(before);
    const removal = planRemoval({ deployment: after ?? before }, options).find(({ what }) => what === 'mount');

    expect(after?.spec?.template.spec?.containers).toMatchObject([sidecar, { name: 'coredns', volumeMounts }]);
    expect(patched(after ?? before, removal?.step).spec?.template.spec).toEqual({
      containers: [sidecar, { name: 'coredns', volumeMounts: [] }],
      volumes: [{ name: 'own', emptyDir: {} }],
    });
  });

  it('CS-34 is not touched when it is right, also as another made it', () => {
    expect(planMounted(mounted())).toBeUndefined();
  });

  it('finds the container by its arguments', () => {
    const renamed = deployment({
      containers: [{ name: 'a' }, { name: 'dns', args: ['-conf', '/etc/coredns/Corefile'] }],
    });

    expect(planMounted(renamed)?.spec?.template.spec?.containers[1]).toMatchObject({ volumeMounts });
  });

  it('grows with MAX_SHARDS', () => {
    const small = planIntegration(observe(kubeadm, { deployment: deployment() }), { ...options, maxShards: 2 }, hosts);
    const live = patched(deployment(), small.steps[0]?.step);

    expect(planMounted(live)?.spec?.template.spec?.volumes?.[0]?.projected?.sources).toHaveLength(4);
  });

  it.each([
    [
      'the path belongs to another volume',
      { containers: [{ name: 'coredns', volumeMounts: [{ name: 'x', mountPath: '/etc/coredns/custom/sync/' }] }] },
      {},
    ],
    ['the volume shows something else', { volumes: [{ name: 'sync-volume', emptyDir: {} }] }, {}],
    ['the path would hide the Corefile', {}, { mountPath: '/etc/coredns' }],
    ['the path is above the Corefile', {}, { mountPath: '/etc' }],
    ['no container is that of CoreDNS', { containers: [{ name: 'a' }, { name: 'b' }] }, {}],
  ])('CS-35 is refused when %s', (_, pod, changes) => {
    const plan = planIntegration(observe(kubeadm, { deployment: deployment(pod) }), { ...options, ...changes }, hosts);

    expect(plan.steps).toEqual([]);
    expect(plan.conditions).toMatchObject([{ type: 'MountConflict' }]);
  });
});
