import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, describe, expect, it } from '@jest/globals';
import { findFunctions } from '../../lib/cli/functions.ts';
import { clusterAccess } from '../../lib/kube/access.ts';
import { createTransport, type Request } from '../../lib/kube/transport.ts';
import { kubeReflex, plainEnvironment } from './command.ts';

interface Line {
  readonly msg?: string;
  readonly kind?: string;
  readonly steps?: readonly string[];
  readonly level?: string;
}

const names = (await findFunctions('functions')).map(({ definition }) => definition.name);
const freePorts = ['--port', '0', '--tls-port', '0', '--api-port', '0'];
let child: ChildProcess | undefined;

afterEach(() => {
  child?.kill('SIGTERM'); // it ends the CoreDNS that it may have started
});

describe('npm start', () => {
  it('reacts to its samples, as JSON lines when piped, and ends cleanly', async () => {
    const { lines, exited } = run([...freePorts, 'coredns-sync']);
    const seen: Line[] = [];
    for await (const line of lines) {
      const record = JSON.parse(line) as Line;
      seen.push(record);
      // The first tick may be faster than the event and do its work.
      const handled = seen.filter(({ msg }) => msg === 'handled');
      const wrote = handled.some(({ steps = [] }) => steps.some((step) => step.includes('rewrite-rules')));
      if (wrote && handled.some(({ kind }) => kind === 'Ingress')) {
        break;
      }
    }
    child?.kill('SIGINT');

    expect(await exited).toEqual({ code: 0, stderr: '' });
    expect(seen.some(({ msg }) => msg === 'listening')).toBe(true);
  });

  it('writes nothing in a dry run and prints the plans', async () => {
    const { lines } = run([...freePorts, '--dry-run', 'coredns-sync']);
    const seen: Line[] = [];
    for await (const line of lines) {
      seen.push(JSON.parse(line) as Line);
      if (seen.at(-1)?.steps?.some((step) => step.includes('rewrite-rules')) === true) {
        break;
      }
    }

    expect(seen.some(({ msg }) => msg === 'step')).toBe(false);
    expect(seen.some(({ msg }) => msg === 'would do')).toBe(true);
    expect(seen.flatMap(({ steps = [] }) => steps)).toContain(
      'would create ConfigMap kube-system/coredns-ingress-sync-rewrite-rules',
    );
  });

  it('writes nothing in a dry run of a function that has a report mode of its own either', async () => {
    using folder = temporaryFolder();
    const { lines } = run([...freePorts, '--dry-run', 'istio-rollout'], folder.path);
    for await (const line of lines) {
      if ((JSON.parse(line) as Line).msg === 'would do') {
        break;
      }
    }

    const { items } = (await ask(folder.path, { path: '/api/v1/namespaces/kube-reflex/configmaps' })) as {
      readonly items: readonly { readonly metadata: { readonly name: string } }[];
    };
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['kube-root-ca.crt']);
  });

  it('gives each function the rights of its manifests alone, and names one that it lacks', async () => {
    using folder = temporaryFolder();
    const { lines } = run([...freePorts, 'coredns-sync'], folder.path);
    const seen: Line[] = [];
    for await (const line of lines) {
      const record = JSON.parse(line) as Line;
      seen.push(record);
      if (record.msg === 'listening') {
        const bindings = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings';
        await ask(folder.path, { method: 'DELETE', path: `${bindings}/kube-reflex-coredns-sync` });
      }
      if (record.level === 'error') {
        break;
      }
    }

    expect(seen.at(-1)).toMatchObject({
      function: 'coredns-sync',
      condition: 'RightMissing',
      messages: [expect.stringMatching(/^could not (get|list) (services|ingresses).*: forbidden$/)],
      action: expect.stringContaining('permissions.ts'),
    });
  });

  it.each([
    [['--port', 'http'], '--port must be a port from 0 to 65534, got "http"'],
    [['--prot', '1'], 'there is no option --prot; did you mean --port?'],
    [['--port'], '--port needs a value: --port N'],
    [['--dry-run=yes'], '--dry-run takes no value, got "yes"'],
    [['nothing'], 'there is no function "nothing"; there are '],
    [['coredns-sinc'], 'there is no function "coredns-sinc"; did you mean coredns-sync?'],
    [['--kubeconfig', '/does/not/exist'], 'could not read the kubeconfig /does/not/exist: ENOENT'],
  ])('refuses %j with a clear message', async (args, message) => {
    const { code, stderr } = await run(args).exited;

    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });

  it.each([
    ['--port', 'HTTP of the functions'],
    ['--tls-port', 'HTTPS of the webhooks'],
    ['--api-port', 'HTTPS of the sandbox API'],
  ])('says which port is taken and what moves it: %s', async (option, what) => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;

    const { code, stderr } = await run([...freePorts, option, String(port)]).exited;
    server.close();

    expect(code).toBe(1);
    expect(stderr).toBe(`start: port ${port} is taken, which is for ${what}; choose another with ${option} N\n`);
  });

  it('names the function whose setting is missing on a cluster, both ways to set it, and how to do without', async () => {
    const { code, stderr } = await run([...freePorts, '--kubeconfig', 'package.json', '--dry-run']).exited;
    const others = names.filter((name) => name !== 'node-affinity-mutate');

    expect(code).toBe(2);
    expect(stderr).toBe(
      [
        'start: wrong settings',
        '  node-affinity-mutate: POOL_NAME is required (example: cpu-worker-0); set NODE_AFFINITY_MUTATE_POOL_NAME or POOL_NAME',
        `  or run without node-affinity-mutate by naming the others: ${others.join(' ')}`,
        '',
      ].join('\n'),
    );
  });

  it('reports a wrong setting of all functions once', async () => {
    const { code, stderr } = await run(freePorts, '.', { LOG_LEVEL: 'loud' }).exited;

    expect(code).toBe(2);
    expect(stderr).toMatch(/^start: wrong settings\n {2}LOG_LEVEL must be one of [^\n]*, got "loud" [^\n]*\n$/);
  });

  it('knows its functions wherever it is called from', async () => {
    const { stderr } = await run(['nothing'], tmpdir()).exited;

    expect(stderr).toContain(`there is no function "nothing"; there are ${names.slice(0, 2).join(', ')}`);
  });

  it('explains itself', async () => {
    const { lines, exited } = run(['--help']);
    const text: string[] = [];
    for await (const line of lines) {
      text.push(line);
    }

    expect((await exited).code).toBe(0);
    expect(text.join('\n')).toContain('--kubeconfig FILE');
  });
});

function temporaryFolder(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), 'start-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true }) };
}

/** A call to the sandbox of the process that was started in the folder, as its administrator. */
async function ask(folder: string, request: Pick<Request, 'path'> & Partial<Request>): Promise<unknown> {
  const transport = createTransport(clusterAccess(join(folder, '.sandbox', 'kubeconfig')));
  try {
    const { status, body } = await transport.send({ method: 'GET', ...request });
    expect(status).toBe(200);
    return JSON.parse(body);
  } finally {
    transport.close();
  }
}

function run(
  args: readonly string[],
  cwd = '.',
  variables: NodeJS.ProcessEnv = {},
): {
  lines: AsyncIterable<string>;
  exited: Promise<{ code: number | null; stderr: string }>;
} {
  const started = spawn(process.execPath, [kubeReflex, 'start', ...args], {
    cwd,
    env: { ...plainEnvironment(), ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child = started;
  let stderr = '';
  started.stderr.on('data', (chunk) => (stderr += String(chunk)));
  const exited = once(started, 'close').then(([code]) => ({ code: code as number | null, stderr }));
  return { lines: createInterface({ input: started.stdout }), exited };
}
