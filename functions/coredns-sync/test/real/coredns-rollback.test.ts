import { expect, it } from '@jest/globals';
import { parseReload } from '../../reload/reload.ts';
import {
  configMaps,
  namespaces,
  pods,
  services,
  type ConfigMap,
  type Resource,
  type Service,
} from '../../../../lib/kube/model/resource.ts';
import type { KubeObject } from '../../../../lib/kube/model/wire.ts';
import { openWorld, type World } from '../world.ts';
import { binaryEvent, send } from '../../../../test/support/http.ts';
import { turnedClock } from '../../../../lib/sandbox/test/turned-clock.ts';
import { observed } from './dns/model.ts';
import { openDnsSite, type CoreDns, type Place } from './dns/site.ts';
import { addresses, ingress, targets } from './dns/world.ts';
import { waitUntil } from '../../../../test/real/parts/wait.ts';

const serviceAccounts: Resource = {
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  namespaced: true,
};
const host = 'a.example.com';
const patience = 300_000;

/** What nobody but CoreDNS sees: a file of somebody else's, with the one `hosts` that a block may have. */
const theirs = { 'theirs.conf': 'hosts {\n    192.0.2.7 printer.test\n    fallthrough\n}\n' };

function corefile({ port, common, cluster, forward, mountPath }: Place): string {
  const imports = `import ${mountPath}/*.server\n    import ${mountPath}/theirs.conf`;
  return `.:${port} {\n    ${imports}\n    ${common}\n    ${cluster}\n    ${forward}\n}\n`;
}

/** The cluster as its API shows it, beside a CoreDNS that runs. */
async function openCluster(text: string, mountPath: string, clock: ReturnType<typeof turnedClock>): Promise<World> {
  const settings = { VERIFY_RELOAD: 'true', COREDNS_AUTO_CONFIGURE: 'true', RENDER_MODE: 'template' };
  const place = { MOUNT_PATH: mountPath, TARGET_CNAME: ingress };
  const world = await openWorld({ ...settings, ...place, MIN_WRITE_INTERVAL_MS: '0' }, { clock });
  const { api } = world.sandbox;
  const current = structuredClone(api.get(configMaps, 'coredns', 'kube-system')) as ConfigMap;
  await api.update(configMaps, { ...current, data: { Corefile: text } } as ConfigMap);
  await api.create(namespaces, { metadata: { name: 'web' } });
  const service: Service = { metadata: { name: 'ingress', namespace: 'web' }, spec: { ports: [{ port: 80 }] } };
  const spec = { ...service.spec, clusterIP: addresses[ingress][0] ?? '', clusterIPs: [...addresses[ingress]] };
  await api.create(services, { ...service, spec: { ...spec, ipFamilies: ['IPv4', 'IPv6'] } } as Service);
  await api.create(serviceAccounts, { metadata: { name: 'default', namespace: 'kube-system' } });
  const metadata = { name: 'coredns-1', namespace: 'kube-system', labels: { 'k8s-app': 'kube-dns' } };
  const containers = [{ name: 'coredns', image: 'coredns' }];
  const pod = await api.create(pods, { metadata, spec: { containers } } as KubeObject);
  const status = { phase: 'Running', podIP: '127.0.0.1', podIPs: [{ ip: '127.0.0.1' }] };
  await api.update(pods, { ...pod, status } as KubeObject, { subresource: 'status' });
  return world;
}

/** The rules as the kubelet would show them. */
function files(world: World): Record<string, string> {
  return { ...theirs, ...world.rules()?.data };
}

async function answer({ dns }: CoreDns): Promise<string> {
  return observed(await dns.ask(host), host, 'A');
}

it(
  'rules that a CoreDNS refuses give way to those that it took, with which it would also start',
  async () => {
    await using site = await openDnsSite();
    let text = '';
    const server = await site.start({ corefile: (place) => (text = corefile(place)), files: theirs });
    const clock = turnedClock();
    await using world = await openCluster(text, server.volume.directory, clock);
    await world.ingress('web', [host]);
    await world.tick();
    await world.rollOut();
    server.write(files(world));
    await waitUntil('the host is served', async () => (await answer(server)) === `target ${targets[ingress].A}`);
    for (let tick = 0; tick < 3; tick += 1) {
      clock.turn(300_000);
      await world.tick();
    }
    const taken = files(world);

    const next = await world.another({ RENDER_MODE: 'hosts' });
    await send(next.url, binaryEvent({ type: 'dev.knative.sources.ping' }));
    const refused = files(world);
    server.write(refused);
    await waitUntil('the refusal', async () => parseReload(await server.metrics()).failed > 0);
    clock.turn(300_000);
    await send(next.url, binaryEvent({ type: 'dev.knative.sources.ping' }));
    const restored = files(world);
    server.write(restored);
    const starts = [refused, restored].map((content) => site.tryStart({ corefile, files: content }));
    const [withRefused, withRestored] = await Promise.all(starts);

    expect(refused['dynamic.server']).toContain('\nhosts ');
    expect(restored).toEqual(taken);
    expect(world.conditions()).toHaveProperty('RolledBack');
    expect(withRefused).toContain('exit code 1');
    expect(withRestored).toBeUndefined();
    expect(await answer(server)).toBe(`target ${targets[ingress].A}`);
  },
  patience,
);
