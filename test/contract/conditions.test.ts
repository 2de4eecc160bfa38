import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import { commonConditions, conditionsOf } from '../../lib/function/conditions.ts';
import type { Context } from '../../lib/function/definition.ts';
import { conditionAlerts } from '../../lib/install/manifests/alerts.ts';
import { conditionRows } from '../../lib/install/manifests/readme.ts';
import { defineFunction } from '../../lib/runtime/define.ts';
import hostCensus from '../functions/host-census/index.ts';
import { binaryEvent, noCluster, send, startApp } from '../support/http.ts';
import { environmentOf, foldersUnderTest } from './functions.ts';

const functions = await foldersUnderTest();

/** The suites that belong to a folder, as one text. */
function suitesIn(...patterns: readonly string[]): string {
  return globSync(patterns.map((pattern) => `${pattern}/**/*.test.ts`))
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n');
}

describe.each(functions)('conditions of $definition.name', ({ definition, folder }) => {
  const own = Object.keys(definition.conditions ?? {});

  it('are series from the start, all at 0', async () => {
    const app = await startApp(definition, { access: noCluster, environment: environmentOf(definition) });
    try {
      const { body } = await send(app.url, { method: 'GET', path: '/metrics' });

      const series = body.split('\n').filter((line) => line.startsWith('kube_reflex_condition{'));
      const wanted = Object.entries(conditionsOf(definition)).map(
        ([type, { severity }]) =>
          `kube_reflex_condition{function="${definition.name}",type="${type}",severity="${severity}"} 0`,
      );
      expect(series.sort()).toEqual(wanted.sort());
    } finally {
      await app.close();
    }
  });

  it('are each raised by a suite of the function', () => {
    const suites = suitesIn(folder);

    expect(own.filter((type) => !suites.includes(`'${type}'`))).toEqual([]);
  });
});

describe('conditions', () => {
  it('have an alert each in deploy/monitoring, unless they only inform', () => {
    const shipped = functions.map(({ definition }) => definition).filter(({ name }) => name !== hostCensus.name);
    const text = readFileSync('deploy/monitoring/conditions/rules.yaml', 'utf8');
    const [manifest] = parseAllDocuments(text).map((document) => document.toJS() as unknown);

    expect(manifest).toEqual(conditionAlerts(shipped));
    const rows = [commonConditions, ...shipped.map(({ conditions = {} }) => conditions)].flatMap(Object.values);
    const alerts = text.match(/- alert: /g) ?? [];
    expect(alerts).toHaveLength(rows.filter(({ severity }: { severity: string }) => severity !== 'info').length);
  });

  it('of every function are in the README and raised by suites of the platform', () => {
    const suites = suitesIn('test/contract', 'test/runtime', 'test/functions');

    expect(readFileSync('README.md', 'utf8')).toContain(conditionRows(commonConditions));
    expect(Object.keys(commonConditions).filter((type) => !suites.includes(`'${type}'`))).toEqual([]);
  });

  it('of a function with a README are in it as in the table', () => {
    const pages = functions.filter(({ folder }) => existsSync(join(folder, 'README.md')));
    const without = pages.filter(
      ({ definition: { conditions = {} }, folder }) =>
        Object.keys(conditions).length > 0 &&
        !readFileSync(join(folder, 'README.md'), 'utf8').includes(conditionRows(conditions)),
    );

    expect(pages.length).toBeGreaterThan(0);
    expect(without.map(({ definition }) => definition.name)).toEqual([]);
  });

  it('that have no row are a bug: nothing is raised that nobody has described', async () => {
    const app = await startApp(
      raising((context) => context.conditions.set('Unheard', ['of'])),
      { access: noCluster },
    );

    const { status } = await send(app.url, binaryEvent({ type: 'dev.knative.sources.ping' }));

    expect(status).toBe(500);
    await app.close();
  });

  it('are listed by /status and /doctor with what to do, until they end', async () => {
    let problems = ['one host is wrong'];
    const app = await startApp(
      raising((context) => context.conditions.set('Wrong', problems)),
      { access: noCluster },
    );
    const tick = binaryEvent({ type: 'dev.knative.sources.ping' });

    await send(app.url, tick);
    expect(JSON.parse((await send(app.url, { method: 'GET', path: '/status' })).body)).toEqual({
      conditions: [{ type: 'Wrong', severity: 'error', messages: ['one host is wrong'], count: 1 }],
    });
    const { status, body } = await send(app.url, { method: 'GET', path: '/doctor' });
    expect(status).toBe(503);
    expect(body).toMatch(/condition Wrong +error +one host is wrong\n +→ correct the host/);

    problems = [];
    await send(app.url, tick);
    expect(JSON.parse((await send(app.url, { method: 'GET', path: '/status' })).body)).toEqual({ conditions: [] });
    await app.close();
  });
});

function raising(act: (context: Context) => void): ReturnType<typeof defineFunction> {
  return defineFunction({
    name: 'raising',
    summary: 'raises conditions',
    config: hostCensus.config,
    conditions: { Wrong: { severity: 'error', meaning: 'a host is wrong', action: 'correct the host' } },
    tick: {
      schedule: '* * * * *',
      handle: (context) => {
        act(context);
        return Promise.resolve();
      },
    },
  });
}
