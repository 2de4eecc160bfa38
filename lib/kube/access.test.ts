import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { mergedAccess } from './access.ts';

const directory = mkdtempSync(join(tmpdir(), 'access-'));

afterAll(() => rmSync(directory, { recursive: true }));

interface Written {
  readonly current?: string;
  /** The server of each cluster, by the cluster's name. */
  readonly clusters?: Readonly<Record<string, string>>;
  /** The token of each user, by the user's name. */
  readonly users?: Readonly<Record<string, string>>;
  /** The cluster and the user of each context, by the context's name. */
  readonly contexts?: Readonly<Record<string, readonly [string, string]>>;
}

function written(name: string, { current, clusters = {}, users = {}, contexts = {} }: Written): string {
  return text(
    name,
    JSON.stringify({
      ...(current === undefined ? {} : { 'current-context': current }),
      clusters: Object.entries(clusters).map(([cluster, server]) => ({ name: cluster, cluster: { server } })),
      users: Object.entries(users).map(([user, token]) => ({ name: user, user: { token } })),
      contexts: Object.entries(contexts).map(([context, [cluster, user]]) => ({
        name: context,
        context: { cluster, user },
      })),
    }),
  );
}

function text(name: string, content: string): string {
  const file = join(directory, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
}

async function reached(files: readonly string[]): Promise<object> {
  const { access, context } = mergedAccess(files);
  const { server, headers } = await access();
  return { context, server: server.href, ...headers };
}

describe('a kubeconfig in several files', () => {
  const production = written('production', {
    current: 'production',
    clusters: { production: 'https://production.example', shared: 'https://first.example' },
    users: { admin: 'first' },
    contexts: { production: ['production', 'admin'], crossed: ['staging', 'guest'] },
  });
  const staging = written('staging', {
    current: 'staging',
    clusters: { staging: 'https://staging.example', shared: 'https://second.example' },
    users: { admin: 'second', guest: 'guest' },
    contexts: { staging: ['staging', 'admin'], shared: ['shared', 'admin'] },
  });

  it('uses the current context of the first file that names one', async () => {
    const silent = written('silent', {});

    expect(await reached([production, staging])).toMatchObject({ context: 'production' });
    expect(await reached([silent, staging, production])).toMatchObject({ context: 'staging' });
  });

  it('uses the first entry of each name', async () => {
    const choice = written('choice', { current: 'shared' });

    expect(await reached([choice, production, staging])).toEqual({
      context: 'shared',
      server: 'https://first.example/',
      Authorization: 'Bearer first',
    });
    expect(await reached([choice, staging, production])).toEqual({
      context: 'shared',
      server: 'https://second.example/',
      Authorization: 'Bearer second',
    });
  });

  it('combines entries of several files', async () => {
    const choice = written('choice', { current: 'crossed' });

    expect(await reached([choice, production, staging])).toEqual({
      context: 'crossed',
      server: 'https://staging.example/',
      Authorization: 'Bearer guest',
    });
  });

  it('resolves relative paths against the file that contains them', async () => {
    text('elsewhere/ca.crt', 'the CA');
    const config = {
      'current-context': 'here',
      clusters: [{ name: 'here', cluster: { server: 'https://here.example', 'certificate-authority': 'ca.crt' } }],
      users: [{ name: 'me', user: { token: 'mine' } }],
      contexts: [{ name: 'here', context: { cluster: 'here', user: 'me' } }],
    };

    const { access } = mergedAccess([text('elsewhere/config', JSON.stringify(config)), production]);

    expect((await access()).tls.ca?.toString()).toBe('the CA');
  });

  it('accepts an empty file among them', async () => {
    expect(await reached([text('empty', ''), production])).toMatchObject({ context: 'production' });
  });

  it.each([
    ['no YAML', 'clusters: ["'],
    ['an entry without a name', '{"clusters":[{}]}'],
  ])('names the file that contains %s', (_what, content) => {
    const broken = text('broken', content);

    expect(() => mergedAccess([production, broken])).toThrow(`could not read ${broken}: `);
  });
});
