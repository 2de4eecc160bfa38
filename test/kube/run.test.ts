import { describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { configMaps } from '../../lib/kube/model/resource.ts';
import { cluster, json, status } from '../../lib/kube/testing/scripted.ts';

describe('writing a plan', () => {
  const place = { namespace: 'default', name: 'a' };

  it('sends each step with the name of the function and stops at the first that fails', async () => {
    const seen: { method: string | undefined; url: string | undefined; type: string | undefined; body: unknown }[] = [];
    const { kube } = await cluster(({ method, url, headers, body }, response) => {
      seen.push({ method, url, type: headers['content-type'], body: JSON.parse(body) });
      return method === 'DELETE' ? status(response, 409, 'Conflict') : json(response, 200, {});
    });

    const run = kube.run({
      steps: [
        { do: 'apply', resource: configMaps, object: { metadata: place }, force: true, why: 'one' },
        { do: 'patch', resource: configMaps, ...place, operations: [{ op: 'remove', path: '/data/x' }], why: 'two' },
        { do: 'delete', resource: configMaps, ...place, uid: 'u', why: 'three' },
        { do: 'create', resource: configMaps, object: { metadata: place }, why: 'four' },
      ],
    });

    await expect(run).rejects.toMatchObject({
      kind: 'conflict',
      message: expect.stringContaining('delete configmaps default/a'),
    });
    const path = '/api/v1/namespaces/default/configmaps/a';
    expect(seen).toEqual([
      {
        method: 'PATCH',
        url: `${path}?fieldManager=kube-reflex.dev%2Ftest&force=true`,
        type: 'application/apply-patch+yaml',
        body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: place },
      },
      {
        method: 'PATCH',
        url: `${path}?fieldManager=kube-reflex.dev%2Ftest`,
        type: 'application/json-patch+json',
        body: [{ op: 'remove', path: '/data/x' }],
      },
      {
        method: 'DELETE',
        url: path,
        type: 'application/json',
        body: { preconditions: { uid: 'u' }, propagationPolicy: 'Background' },
      },
    ]);
  });

  it('writes nothing in a dry run, and logs what it would do', async () => {
    const lines: string[] = [];
    const { kube, calls } = await cluster((_request, response) => json(response, 200, {}), {
      dryRun: 'plan',
      log: pino({}, { write: (line) => lines.push(line) }),
    });

    await kube.run({
      steps: [{ do: 'delete', resource: configMaps, ...place, uid: 'u', why: 'not needed' }],
      skipped: ['b: not ours'],
    });

    expect(calls).toEqual([]);
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { msg: 'skipped', skipped: 'b: not ours' },
      { msg: 'would do', do: 'delete', kind: 'ConfigMap', namespace: 'default', name: 'a', why: 'not needed' },
    ]);
  });

  it.each([
    ['a delete of what is gone', 404, { do: 'delete', resource: configMaps, ...place, uid: 'u', why: '' }],
    ['an eviction of what is gone', 404, { do: 'evict', ...place, uid: 'u', why: '' }],
    [
      'an Event that exists already',
      409,
      { do: 'event', about: { metadata: place }, type: 'Normal', reason: 'Done', note: 'x' },
    ],
  ] as const)('counts %s as done', async (_what, code, step) => {
    const { kube } = await cluster((_request, response) => status(response, code, ''));

    await expect(kube.run({ steps: [step] })).resolves.toEqual([{ step }]);
  });

  it('names an Event by its content, or by its occasion regardless of the note', async () => {
    const names: string[] = [];
    const { kube } = await cluster(({ body }, response) => {
      names.push((JSON.parse(body) as { metadata: { name: string } }).metadata.name);
      json(response, 201, {});
    });
    const event = { do: 'event', about: { metadata: place }, type: 'Normal', reason: 'Done' } as const;

    await kube.run({
      steps: [
        { ...event, note: 'x' },
        { ...event, note: 'x' },
        { ...event, note: 'y' },
      ],
    });
    await kube.run({
      steps: [
        { ...event, note: 'x', occasion: 'monday' },
        { ...event, note: 'y', occasion: 'monday' },
        { ...event, note: 'x', occasion: 'tuesday' },
      ],
    });

    const [one, same, other, monday, reworded, tuesday] = names;
    expect([same, reworded]).toEqual([one, monday]);
    expect(new Set([one, other, monday, tuesday]).size).toBe(4);
  });

  it.each([
    ['a failed test of a JSON patch', 422, {}, 'conflict'],
    ['an object that vanished', 404, {}, 'conflict'],
    ['an admission that was refused', 403, {}, 'impossible'],
    ['an invalid value', 422, { causes: [{ reason: 'FieldValueInvalid' }] }, 'impossible'],
    ['a field that another manager owns', 409, { causes: [{ reason: 'FieldManagerConflict' }] }, 'impossible'],
  ])('recognizes %s', async (_what, code, details, kind) => {
    const { kube } = await cluster((_request, response) =>
      json(response, code, { kind: 'Status', message: 'no', reason: 'x', details }),
    );
    const step = { do: 'patch', resource: configMaps, ...place, operations: [], why: '' } as const;

    await expect(kube.run({ steps: [step] })).rejects.toMatchObject({ kind });
  });
});
