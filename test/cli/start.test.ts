import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, describe, expect, it } from '@jest/globals';
import { liveLine } from '../../lib/cli/live.ts';
import { clusterAccess } from '../../lib/kube/access.ts';
import { createTransport, type Request } from '../../lib/kube/transport.ts';

interface Line {
  readonly msg?: string;
  readonly kind?: string;
  readonly steps?: readonly string[];
  readonly level?: string;
}

const freePorts = ['--port', '0', '--tls-port', '0', '--api-port', '0'];
let child: ChildProcess | undefined;

afterEach(() => {
  child?.kill('SIGKILL');
});

describe('npm start', () => {
  it('reacts to its samples, as JSON lines when piped, and ends cleanly', async () => {
    const { lines, exited } = run([...freePorts, 'coredns-sync']);
    const seen: Line[] = [];
    for await (const line of lines) {
      const record = JSON.parse(line) as Line;
      seen.push(record);
      if (record.msg === 'handled' && record.kind === 'Ingress' && (record.steps ?? []).length > 0) {
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
      msg: expect.stringMatching(
        /^coredns-sync may not (get|list) (services|ingresses).*; grant it in functions\/coredns-sync\/permissions\.ts$/,
      ),
    });
  });

  it.each([
    [['--port', 'http'], '--port must be a port from 0 to 65534, got "http"'],
    [['--prot', '1'], "Unknown option '--prot'"],
    [['nothing'], 'there is no function "nothing"; there is '],
    [['--kubeconfig', '/does/not/exist'], '/does/not/exist'],
  ])('refuses %j with a clear message', async (args, message) => {
    const { code, stderr } = await run(args).exited;

    expect(code).toBe(1);
    expect(stderr).toContain(message);
  });

  it('says plainly that a port is taken', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;

    const { code, stderr } = await run([...freePorts, '--port', String(port)]).exited;
    server.close();

    expect(code).toBe(1);
    expect(stderr).toBe(`port ${port} is taken\n`);
  });

  it('knows its functions wherever it is called from', async () => {
    const { stderr } = await run(['nothing'], tmpdir()).exited;

    expect(stderr).toContain('there is no function "nothing"; there is coredns-sync, freeze-check, ');
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

describe('a live line', () => {
  const handled = {
    msg: 'handled',
    level: 'info',
    time: '2026-01-01T10:20:30.400Z',
    function: 'host-census',
    calls: 3,
    ms: 12,
  };

  it.each([
    [
      {
        ...handled,
        change: 'add',
        kind: 'Ingress',
        namespace: 'shop',
        name: 'web',
        steps: ['patch ConfigMap a/b', 'patch ConfigMap a/b'],
      },
      '10:20:30  Ingress shop/web added → host-census → patch ConfigMap a/b  (12 ms, 3 API calls)\n',
    ],
    [{ ...handled, change: 'delete', kind: 'Namespace', name: 'shop', steps: [] }, undefined],
    [
      { ...handled, type: 'dev.knative.sources.ping', steps: [] },
      '10:20:30  tick → host-census → nothing to do  (12 ms, 3 API calls)\n',
    ],
    [{ ...handled, msg: 'step' }, undefined],
    [
      { ...handled, level: 'debug', msg: 'admitted', kind: 'Pod', namespace: 'a', name: 'b', did: 'gave it c' },
      '10:20:30  Pod a/b created → host-census → gave it c\n',
    ],
    [{ ...handled, level: 'debug', msg: 'ignored' }, undefined],
    [
      { level: 'warn', time: handled.time, msg: 'failed', reason: 'no' },
      '10:20:30 !                      failed reason=no\n',
    ],
  ])('tells %j', (record, line) => {
    expect(liveLine(JSON.stringify(record), { details: false })).toBe(line);
  });

  it('tells also what led to nothing when details are asked for', () => {
    const record = { ...handled, change: 'delete', kind: 'Namespace', name: 'shop', steps: [] };

    expect(liveLine(JSON.stringify(record))).toBe(
      '10:20:30  Namespace shop deleted → host-census → nothing to do  (12 ms, 3 API calls)\n',
    );
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
): {
  lines: AsyncIterable<string>;
  exited: Promise<{ code: number | null; stderr: string }>;
} {
  const started = spawn(process.execPath, [resolve('lib/cli/start.ts'), ...args], {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child = started;
  let stderr = '';
  started.stderr.on('data', (chunk) => (stderr += String(chunk)));
  const exited = once(started, 'close').then(([code]) => ({ code: code as number | null, stderr }));
  return { lines: createInterface({ input: started.stdout }), exited };
}
