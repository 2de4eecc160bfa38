import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { inParallel } from '../../../lib/base/in-parallel.ts';
import { expectCode } from '../../../lib/sandbox/test/contract/scratch.ts';
import { isProbe } from './adapter.ts';
import { callsOf, readAudit } from '../parts/audit.ts';
import { censusPath, censusUser, isWrite, openCensus, shipped, type Census } from './census.ts';
import { startCluster, type Cluster } from '../parts/cluster.ts';
import { controlPlane } from '../parts/control-plane.ts';
import { openEventPath, type EventPath } from './event-path.ts';
import { installRights, usernameOf } from '../support/function.ts';
import { forgetHistory } from '../parts/history.ts';
import { startProxy } from '../parts/proxy.ts';
import { startQueueProxy } from './queue-proxy.ts';
import { throttle } from './throttle.ts';
import { followHosts, keepTouching, selecting, stormCount, stormNames } from './trouble.ts';
import { waitUntil } from '../parts/wait.ts';

const patience = 300_000;

describe('host-census on the real event path', () => {
  const running = new AsyncDisposableStack();
  let cluster: Cluster;
  let census: Census;

  beforeAll(async () => {
    cluster = running.use(await startCluster());
    await installRights(cluster, shipped);
  }, patience);
  afterAll(() => running.disposeAsync());

  /** A scenario begins without Ingresses and without a census. */
  function scenario(name: string, run: () => Promise<void>): void {
    it(
      name,
      async () => {
        census = await openCensus(cluster);
        await run();
        census.close();
      },
      patience,
    );
  }

  scenario('PF-1 objects exist before install: no event arrives, the first tick converges', async () => {
    await census.ask('a', 'a.example');
    await census.ask('b', 'b.example');
    await using path = await openEventPath(cluster, shipped);

    const arrived = path.relay.received.filter((event) => !isProbe(event));
    const before = await census.hosts();
    const { status } = await path.tick();

    expect(arrived).toEqual([]);
    expect(before).toBeUndefined();
    expect(status).toBe(204);
    expect(await census.hosts()).toEqual(['a.example', 'b.example']);
  });

  scenario('PF-2 adapter gap: the tick converges and the drift counter rises', async () => {
    await using path = await openEventPath(cluster, shipped);
    await census.ask('a', 'a.example');
    await census.ask('b', 'b.example');
    await census.untilHosts(['a.example', 'b.example']);

    await path.killAdapters();
    await census.withdraw('a');
    await census.ask('c', 'c.example');
    const earlier = path.relay.received.length;
    await path.startAdapters();
    const arrived = path.relay.received.slice(earlier).filter((event) => !isProbe(event));
    const before = await census.hosts();
    const driftBefore = await drift(path);
    await path.tick();

    expect(arrived).toEqual([]);
    expect(before).toEqual(['a.example', 'b.example']);
    expect(await census.hosts()).toEqual(['b.example', 'c.example']);
    expect([driftBefore, await drift(path)]).toEqual([0, 1]);
  });

  scenario('PF-3 expired resourceVersion: the tick converges, the function never errs', async () => {
    await using path = await openEventPath(cluster, shipped);
    await census.ask('a', 'a.example');
    await census.ask('b', 'b.example');
    await census.untilHosts(['a.example', 'b.example']);

    await path.freezeAdapters();
    await census.client.call('POST', '/api/v1/namespaces', { body: { metadata: { name: 'something-else' } } });
    await forgetHistory(cluster);
    await census.ask('c', 'c.example');
    await census.withdraw('a');
    await path.thawAdapters();
    const before = await census.hosts();
    await path.tick();
    await census.ask('d', 'd.example');
    await census.untilHosts(['b.example', 'c.example', 'd.example']);

    expect(before).toEqual(['a.example', 'b.example']);
    expect(await drift(path)).toBe(1);
    expect(statuses(path)).toEqual([204]);
  });

  scenario('PF-4 overlap: events that arrive twice cause no second write', async () => {
    await using path = await openEventPath(cluster, shipped, { overlapping: 2 });

    for (const name of ['a', 'b', 'c']) {
      await census.ask(name, `${name}.example`);
      await waitUntil(`two events about ${name}`, () =>
        path.relays.every(({ passed }) => passed.some(({ headers }) => headers['ce-name'] === name)),
      );
    }

    expect(await census.hosts()).toEqual(['a.example', 'b.example', 'c.example']);
    expect(await census.writes()).toBe(3);
    expect(statuses(path)).toEqual([204]);
  });

  scenario('PF-5 synthetic delete: an object that loses the selected label is not taken for gone', async () => {
    await using path = await openEventPath(cluster, shipped, { sources: [selecting({ counted: 'yes' })] });
    await census.ask('a', 'a.example', { counted: 'yes' });
    await census.untilHosts(['a.example']);

    const labels = { counted: null };
    await census.client.call('PATCH', '/apis/networking.k8s.io/v1/namespaces/default/ingresses/a', {
      body: { metadata: { labels } },
      headers: { 'content-type': 'application/merge-patch+json' },
    });
    await waitUntil('the delete', () => path.relay.passed.some(({ says }) => says === 'delete default/a'));

    expect(await census.hosts()).toEqual(['a.example']);
    expect(await census.writes()).toBe(1);
    expect(statuses(path)).toEqual([204]);
  });

  scenario('PF-6 storm: few writes, no more runs than events, quick answers, an exact end', async () => {
    await using path = await openEventPath(cluster, shipped);
    const names = stormNames(1000);

    await inParallel(8, names, (name) => census.ask(name, `${name}.example`));
    // One event at a time, and each costs a list of all: this is what takes long, not the storm.
    await waitUntil('all events', () => stormCount(path.relay.passed) === names.length, patience);

    const events = path.relay.passed.length;
    const runs = await path.function.metric('kube_reflex_runs_total');
    const writes = await census.writes();
    const slowest = Math.max(...path.relay.passed.map(({ ms }) => ms));
    expect(await census.hosts()).toEqual(names.map((name) => `${name}.example`));
    expect(runs).toBeLessThanOrEqual(events);
    expect(writes).toBeLessThan(events / 2);
    expect(slowest).toBeLessThan(30_000);
    expect(statuses(path)).toEqual([204]);
  });

  scenario('PF-7 two processes: no update is lost, nothing swings back', async () => {
    await using path = await openEventPath(cluster, shipped, { functions: 2, overlapping: 2 });
    await Promise.all([path.tick(), path.tick()]);
    const names = stormNames(200);
    const wanted = names.map((name) => `${name}.example`);
    const seen = await followHosts(census.client);

    await inParallel(4, names, (name) => census.ask(name, `${name}.example`));
    await waitUntil('all events', () => path.relays.every(({ passed }) => stormCount(passed) === names.length));
    await waitUntil('the watch', () => seen.states().at(-1)?.size === wanted.length);

    const runs = await Promise.all(path.functions.map(({ metric }) => metric('kube_reflex_runs_total')));
    expect(await census.hosts()).toEqual(wanted);
    expect(Math.min(...runs)).toBeGreaterThan(1);
    expect(seen.states().length).toBeGreaterThan(1);
    expect(seen.states().filter((hosts, index) => !hosts.isSupersetOf(seen.states()[index - 1] ?? new Set()))).toEqual(
      [],
    );
    expect(statuses(path).filter((status) => status !== 204 && status !== 503)).toEqual([]);
    seen.close();
  });

  scenario('PF-8 conflict loop: bounded retries, then 503, then success', async () => {
    await using path = await openEventPath(cluster, shipped);
    await census.ask('a', 'a.example');
    await census.untilHosts(['a.example']);

    const third = keepTouching(cluster);
    const hosts = ['a.example'];
    // Now and then a write slips in between two of the third writer's.
    while (!statuses(path).includes(503)) {
      const name = `b-${hosts.length}`;
      hosts.push(`${name}.example`);
      await census.ask(name, `${name}.example`);
      await waitUntil(`an answer about ${name}`, () =>
        path.relay.passed.some(({ headers }) => headers['ce-name'] === name),
      );
    }
    const touched = await third.stop();
    await census.untilHosts(hosts);
    await path.relay.idle();

    const refused = path.relay.passed.filter(({ status }) => status === 503);
    const patches = (await census.calls()).filter(({ verb }) => verb === 'patch');
    expect(refused.every(({ retryAfter }) => Number(retryAfter) >= 1)).toBe(true);
    expect(statuses(path)).toEqual([204, 503]);
    expect(patches.length).toBeLessThanOrEqual(3 * path.relay.passed.length);
    expect(patches.filter(isWrite).length).toBeLessThan(hosts.length);
    expect(expectCode(200, await census.client.call('GET', censusPath)).metadata?.annotations?.['touched']).toBe(
      touched,
    );
  });

  scenario('PF-9 API server down: 503 with Retry-After, no crash, readiness stays up', async () => {
    await using path = await openEventPath(cluster, shipped);
    await census.ask('a', 'a.example');
    await census.untilHosts(['a.example']);

    await path.freezeAdapters();
    await cluster.part('kube-apiserver').stop();
    const down = await path.tick();
    const health = await Promise.all(['readiness', 'liveness'].map((which) => healthOf(path, which)));
    await cluster.start(controlPlane['kube-apiserver'](cluster.site));
    const up = await path.tick();

    expect([down.status, down.retryAfter]).toEqual([503, '1']);
    expect(health).toEqual([200, 200]);
    expect(up.status).toBe(204);
    expect(statuses(path)).toEqual([204, 503]);
    expect(path.function.running.alive()).toBe(true);
  });

  scenario('PF-9 API server throttles: 503 with Retry-After, no crash, readiness stays up', async () => {
    await using path = await openEventPath(cluster, shipped);
    await census.ask('a', 'a.example');
    await census.untilHosts(['a.example']);

    const release = await throttle(census.client, censusUser);
    await waitUntil('a throttled tick', async () => (await path.tick()).status === 503);
    const { retryAfter } = path.relay.passed.at(-1) ?? {};
    const health = await healthOf(path, 'readiness');
    await release();
    await waitUntil('a tick that works again', async () => (await path.tick()).status === 204);

    const codes = new Set((await census.calls()).map(({ responseStatus }) => responseStatus?.code));
    expect(Number(retryAfter)).toBeGreaterThanOrEqual(1);
    expect(health).toBe(200);
    expect(codes).toContain(429);
    expect(statuses(path)).toEqual([204, 503]);
    expect(path.function.running.alive()).toBe(true);
  });

  scenario('PF-10 slow function behind queue-proxy: the time limit holds, the adapter resumes', async () => {
    const proxy = await startProxy(Number(new URL(cluster.access.url).port));
    await using path = await openEventPath(cluster, shipped, { server: `https://127.0.0.1:${proxy.port}` });
    const queue = await startQueueProxy(cluster, { target: path.function.url, timeoutSeconds: 1 });
    path.relay.to(queue.url);
    await census.ask('a', 'a.example');
    await census.untilHosts(['a.example']);

    proxy.hang(true);
    await census.ask('b', 'b.example');
    await census.ask('c', 'c.example');
    await waitUntil('a 504', () => path.relay.passed.some(({ status }) => status === 504));
    const overtaken = path.relay.received.some(({ says }) => says === 'add default/c');
    proxy.hang(false);
    await census.untilHosts(['a.example', 'b.example', 'c.example']);
    await waitUntil('the events behind it', () => path.relay.passed.some(({ says }) => says === 'add default/c'));

    const late = path.relay.passed.filter(({ status }) => status === 504);
    expect(overtaken).toBe(false);
    expect(Math.max(...late.map(({ ms }) => ms))).toBeLessThan(30_000);
    expect(statuses(path)).toEqual([204, 504]);
    expect(path.function.running.alive()).toBe(true);
    await queue.running.stop();
    await proxy.close();
  });

  it('was never refused a right, and used all that events ask for', () => {
    const audit = readAudit(cluster);
    const forbidden = audit.filter(({ responseStatus }) => responseStatus?.code === 403);

    expect(forbidden.map(({ user, verb, requestURI }) => [user.username, verb, requestURI])).toEqual([]);
    // What else its certificate needs, `tls.test.ts` shows: no webhook is registered here.
    expect(Object.keys(callsOf(censusUser, audit)).sort()).toEqual([
      'create configmaps',
      'create secrets',
      'get configmaps',
      'get secrets',
      'get validatingwebhookconfigurations',
      'list ingresses',
      'patch configmaps',
    ]);
    // It may also get and list: Knative asks for all three before it starts an adapter, whose watches begin with
    // the list nowadays. The calls without a kind are its discovery.
    expect(Object.keys(callsOf(usernameOf('host-census', 'source'), audit)).sort()).toEqual([
      'get',
      'watch configmaps',
      'watch ingresses',
      'watch namespaces',
    ]);
    expect(Object.keys(callsOf(usernameOf('shared', 'source'), audit)).sort()).toEqual([
      'get',
      'watch validatingwebhookconfigurations',
    ]);
  });
});

function drift(path: EventPath): Promise<number> {
  return path.function.metric('kube_reflex_drift_total');
}

async function healthOf(path: EventPath, which: string): Promise<number> {
  return (await fetch(new URL(`/health/${which}`, path.function.url))).status;
}

/** Each status that the function answered with. */
function statuses({ relays }: EventPath): number[] {
  return [...new Set(relays.flatMap(({ passed }) => passed.map(({ status }) => status)))].sort();
}
