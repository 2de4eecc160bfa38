import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { changeFreezes, freezeExceptions, maintenanceWindows } from '../policy.ts';
import { deployments, namespaces } from '../../../lib/kube/model/resource.ts';
import { send, type Received } from '../../../test/support/http.ts';
import { exception, freeze, namespaceNamed, nightly } from './objects.ts';
import { deployment } from './reviews.ts';
import { openWorld, type Replica, type World } from './world.ts';

const noon = '2026-12-25T12:00:00Z';
const christmas = ['2026-12-24T00:00:00Z', '2026-12-27T00:00:00Z'] as const;

let world: World;
let replica: Replica;

beforeAll(async () => {
  world = await openWorld({ at: noon });
  await world.create(namespaces, namespaceNamed('prod', { env: 'prod' }));
  await world.create(namespaces, namespaceNamed('lab', { env: 'prod' }));
  await world.create(namespaces, { metadata: { name: 'leaving', finalizers: ['example.com/wait'] } });
  await world.remove(namespaces, 'leaving');
  await world.create(deployments, deployment());
  await world.create(changeFreezes, freeze('holiday', christmas, { message: { reason: 'Christmas' } }));
  await world.create(maintenanceWindows, nightly('nights'));
  await world.create(
    changeFreezes,
    freeze('payments', ['2026-12-01T00:00:00Z', '2027-01-10T00:00:00Z'], {
      target: { kinds: ['Deployment'], objectSelector: { matchLabels: { app: 'pay' } } },
      rules: { deny: ['SCALE'] },
    }),
  );
  replica = await world.replica({ environment: { POLICY_MAX_AGE: '0s' } });
});
afterAll(() => world.close());

function get(parameters: Record<string, string>, of = replica, authorization?: string): Promise<Received> {
  const path = `/v1/evaluate?${new URLSearchParams(parameters).toString()}`;
  const headers = authorization === undefined ? {} : { authorization };
  return send(of.app.url, { method: 'GET', path, headers });
}

function post(body: string): Promise<Received> {
  return send(replica.app.url, { path: '/v1/evaluate', headers: { 'content-type': 'application/json' }, body });
}

function json({ status, body }: Received): unknown {
  return { status, ...(JSON.parse(body) as object) };
}

const rollout = { namespace: 'prod', kind: 'Deployment', action: 'ROLL_OUT' };

describe('/v1/evaluate', () => {
  it.each([
    ['an exempt user', { user: 'release-bot' }, 'exempt-user'],
    ['an exempt group', { user: 'dev@x', groups: 'sre' }, 'exempt-group'],
    ['the function itself', { user: 'system:serviceaccount:kube-reflex:freeze-check' }, 'self'],
    ['an excluded namespace', { namespace: 'lab' }, 'excluded-namespace'],
    ['its own namespace', { namespace: 'kube-reflex' }, 'excluded-namespace'],
    ['a namespace that goes', { namespace: 'leaving' }, 'terminating-namespace'],
  ])('answers for %s as admission does', async (_whom, asked, bypass) => {
    const environment = { EXEMPT_USERS: 'release-bot', EXEMPT_GROUPS: 'sre', EXCLUDED_NAMESPACES: 'lab' };
    const lenient = await world.replica({ name: 'lenient', environment });

    const answer = json(await get({ ...rollout, ...asked }, lenient));

    expect(answer).toEqual({ status: 200, allow: true, evaluatedAt: noon, bypass });
    await lenient.close();
  });

  it('FC-76 says who denies, why, until when, and when nobody does any more', async () => {
    expect(json(await get(rollout))).toEqual({
      status: 200,
      allow: false,
      evaluatedAt: noon,
      reason: 'Outside maintenance window',
      matchedPolicy: 'nights',
      policyKind: 'MaintenanceWindow',
      nextAllowedTime: '2026-12-25T22:00:00Z',
      blocking: [
        { kind: 'MaintenanceWindow', name: 'nights', nextAllowedTime: '2026-12-25T22:00:00Z' },
        { kind: 'ChangeFreeze', name: 'holiday', nextAllowedTime: '2026-12-27T00:00:00Z' },
      ],
      clearAt: '2026-12-27T00:00:00Z',
      nextTransition: '2026-12-25T22:00:00Z',
    });
  });

  it('FC-76 tells the end of a freeze', async () => {
    expect(json(await get({ ...rollout, at: '2026-12-25T23:00:00Z' }))).toMatchObject({
      allow: false,
      reason: 'Christmas',
      matchedPolicy: 'holiday',
      policyKind: 'ChangeFreeze',
      nextAllowedTime: '2026-12-27T00:00:00Z',
      freezeEndTime: '2026-12-27T00:00:00Z',
    });
  });

  it('answers for any other time', async () => {
    expect(json(await get({ ...rollout, at: '2027-01-05T23:30:00+01:00' }))).toEqual({
      status: 200,
      allow: true,
      evaluatedAt: '2027-01-05T22:30:00Z',
      nextTransition: '2027-01-06T02:00:00Z',
    });
  });

  it.each([
    [{ ...rollout, action: '' }, 'namespace, kind, and action are required'],
    [{ ...rollout, kind: 'Pod' }, 'unsupported kind: Pod; valid: Deployment, StatefulSet, DaemonSet, CronJob'],
    [{ ...rollout, action: 'scale' }, 'unsupported action: scale; valid: CREATE, DELETE, ROLL_OUT, SCALE'],
    [{ ...rollout, at: 'soon' }, 'at: "soon" is not a time such as 2026-12-24T00:00:00Z'],
    [{ ...rollout, labels: 'app' }, 'labels must be as in app=web,tier=front, got "app"'],
  ])('FC-76 refuses %j', async (parameters, error) => {
    expect(json(await get(parameters))).toEqual({ status: 400, error });
  });

  it.each(['{', '', 'null', '"x"', '[7]'])('refuses the body %j', async (body) => {
    expect(json(await post(body))).toMatchObject({ status: 400, error: expect.stringMatching(/^invalid JSON: /) });
  });

  it('fails where there is no such namespace', async () => {
    expect(json(await get({ ...rollout, namespace: 'nowhere' }))).toEqual({
      status: 500,
      error: 'namespace "nowhere" not found',
    });
  });

  it('lists what it can not know without labels, and takes them from the workload by its name', async () => {
    const scaling = { ...rollout, action: 'SCALE' };

    expect(json(await get(scaling))).toMatchObject({
      allow: true,
      undetermined: [{ kind: 'ChangeFreeze', name: 'payments' }],
    });
    expect(json(await get({ ...scaling, labels: 'app=pay' }))).toMatchObject({
      allow: false,
      matchedPolicy: 'payments',
    });
    expect(json(await get({ ...scaling, name: 'web' }))).toEqual({ status: 200, allow: true, evaluatedAt: noon });
  });

  it('answers a list with a list, as the user of each question', async () => {
    const hotfix = exception('hotfix', christmas);
    const constraints = { allowedUsers: ['ann'], allowedGroups: ['ops'] };
    await world.create(freezeExceptions, { ...hotfix, spec: { ...hotfix.spec, constraints } });

    const { status, body } = await post(JSON.stringify([rollout, { ...rollout, user: 'ann', groups: ['ops'] }]));
    await world.remove(freezeExceptions, 'hotfix');

    expect(status).toBe(200);
    expect(JSON.parse(body)).toMatchObject([{ allow: false }, { allow: true, exception: 'hotfix' }]);
  });

  it('answers what can be answered of a list, and takes no endless one', async () => {
    const some = await post(JSON.stringify([{ ...rollout, namespace: 'nowhere' }, rollout]));
    const many = await post(JSON.stringify(Array.from({ length: 1_001 }, () => rollout)));
    const supposing = { ...rollout, policies: Array.from({ length: 60 }, () => ({})) };
    const policies = await post(JSON.stringify([supposing, supposing]));

    expect(some.status).toBe(200);
    expect(JSON.parse(some.body)).toMatchObject([{ error: 'namespace "nowhere" not found' }, { allow: false }]);
    expect(json(many)).toEqual({ status: 400, error: 'at most 1000 questions at once, got 1001' });
    expect(json(policies)).toEqual({ status: 400, error: 'policies: at most 100 in all questions at once, got 120' });
  });

  it('answers as if policies were applied that are not, or not as they are, and applies none', async () => {
    const at = '2026-12-28T23:00:00Z';
    const policies = [
      { kind: 'ChangeFreeze', ...freeze('holiday', [christmas[0], '2027-01-02T00:00:00Z']) },
      { kind: 'FreezeException', ...exception('hotfix', ['2026-12-30T00:00:00Z', '2026-12-31T00:00:00Z']) },
    ];
    const [before, within, excepted] = await Promise.all([
      post(JSON.stringify({ ...rollout, at })),
      post(JSON.stringify({ ...rollout, at, policies })),
      post(JSON.stringify({ ...rollout, at: '2026-12-30T12:00:00Z', policies })),
    ]);
    const wrong = [{ kind: 'ChangeFreeze', ...freeze('odd', [christmas[1], christmas[0]]) }];

    expect(json(before)).toMatchObject({ status: 200, allow: true });
    expect(json(within)).toMatchObject({
      allow: false,
      matchedPolicy: 'holiday',
      freezeEndTime: '2027-01-02T00:00:00Z',
    });
    expect(json(excepted)).toMatchObject({ allow: true, exception: 'hotfix' });
    expect(json(await post(JSON.stringify({ ...rollout, policies: wrong })))).toEqual({
      status: 400,
      error: 'policies[0].spec.endTime must be after spec.startTime',
    });
    expect(world.get(changeFreezes, 'holiday').spec.endTime).toBe(christmas[1]);
  });

  it('FC-76 asks for a token where it is told to, and is healthy without', async () => {
    const guarded = await world.replica({
      name: 'guarded',
      environment: { API_AUTH_MODE: 'token', POLICY_MAX_AGE: '0s' },
    });

    expect(json(await get(rollout, guarded))).toEqual({ status: 401, error: 'missing Bearer token' });
    expect(json(await get(rollout, guarded, 'Bearer x'))).toEqual({ status: 401, error: 'token not authenticated' });
    expect(json(await get(rollout, guarded, `bearer ${await tokenOf('guarded')}`))).toMatchObject({ status: 200 });
    expect((await send(guarded.app.url, { method: 'GET', path: '/healthz' })).status).toBe(200);
  });

  it('counts questions by answer', async () => {
    await get(rollout);
    await get({ ...rollout, kind: 'Pod' });

    const { body } = await send(replica.app.url, { method: 'GET', path: '/metrics' });

    expect(body).toMatch(
      /freeze_operator_api_requests_total\{decision="deny",namespace="prod",kind="Deployment",action="ROLL_OUT"\} \d/,
    );
    expect(body).toMatch(/freeze_operator_api_errors_total\{error_type="bad_request"\} \d/);
    expect(body).toContain('freeze_operator_api_latency_seconds_bucket{le="0.025"}');
  });
});

describe('/v1/evaluate by RBAC', () => {
  const evaluate = '/v1/evaluate';
  let strict: World;

  beforeAll(async () => {
    strict = await openWorld({ at: noon, rbac: true });
    await strict.create(namespaces, namespaceNamed('prod', { env: 'prod' }));
  });
  afterAll(() => strict.close());

  it('FC-76 answers whose token may, by the verb, and nobody while that can not be found out', async () => {
    const guarded = await strict.replica({ name: 'guarded', environment: { API_AUTH_MODE: 'rbac' } });
    const authorization = `Bearer ${await tokenOf('guarded', strict)}`;

    const before = json(await get(rollout, guarded, authorization));
    await strict.grant('system:serviceaccounts', [{ nonResourceURLs: [evaluate], verbs: ['get'] }]);
    const entitled = json(await get(rollout, guarded, authorization));
    const headers = { 'content-type': 'application/json', authorization };
    const posted = json(await send(guarded.app.url, { path: evaluate, headers, body: JSON.stringify(rollout) }));
    strict.sandbox.faults.add({ resource: 'tokenreviews', effect: { do: 'refuse', status: 503 } });
    const unknown = json(await get(rollout, guarded, authorization));

    expect(before).toEqual({ status: 403, error: 'not allowed to get /v1/evaluate' });
    expect(entitled).toMatchObject({ status: 200, allow: true });
    expect(posted).toEqual({ status: 403, error: 'not allowed to post /v1/evaluate' });
    expect(unknown).toEqual({ status: 500, error: 'authentication error' });
  });
});

async function tokenOf(account: string, { sandbox } = world): Promise<string> {
  const path = `/api/v1/namespaces/kube-reflex/serviceaccounts/${account}/token`;
  const headers = { 'content-type': 'application/json' };
  const { body } = await send(new URL(sandbox.httpUrl), { path, headers, body: '{"spec":{}}' });
  return (JSON.parse(body) as { status: { token: string } }).status.token;
}
