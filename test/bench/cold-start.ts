import { readFile } from 'node:fs/promises';
import https from 'node:https';
import { join } from 'node:path';
import { send } from '../support/http.ts';
import { median, ratio, type Figure } from './measure/figure.ts';
import { expectStatus, foreignEvent, ingressEvent } from './measure/load.ts';
import { benchProgram, start, type Program } from './measure/program.ts';
import { openSite, webhookHost } from './measure/site.ts';
import { inTurns } from './measure/turns.ts';

export const about = 'from the start of a process to its first answer, against bare node:http';

interface Start {
  readonly wallMs: number;
  readonly cpuMs: number;
}

type Ask = (urls: readonly URL[]) => Promise<void>;

const bar = { atMost: 1.8 };

export async function run(): Promise<readonly Figure[]> {
  const site = await openSite();
  const bare = benchProgram('bare.cjs');
  const floor = site.asShipped(benchProgram('bare-https.cjs', { API_URL: site.apiUrl.href, CA_FILE: site.caFile }));
  const admission = site.functionProgram({
    ROLE: 'admission',
    CERT_DIR: site.certificates,
  });
  const ca = await readFile(join(site.certificates, '..data', 'ca.crt'));
  try {
    const starts = await inTurns(
      {
        bare: () => measure(bare, post(ingressEvent)),
        floor: () => measure(floor, post(ingressEvent)),
        event: () => measure(site.functionProgram(), post(ingressEvent)),
        foreign: () => measure(site.functionProgram(), post(foreignEvent)),
        admission: () => measure(admission, review(ca)),
      },
      { rounds: 15, warmUp: 2 },
    );
    const { bare: base, floor: asking, event, foreign, admission: admitted } = starts;
    return [
      ...compare('an event that reads the cluster over TLS / bare', event, base, bar),
      ...compare('an event that is not ours / bare', foreign, base, bar),
      ...compare('an admission over TLS / bare', admitted, base),
      ...compare('bare with one https GET, the floor of a read / bare', asking, base),
      ...compare('an event that reads the cluster over TLS / that floor', event, asking),
    ];
  } finally {
    await site.close();
  }
}

async function measure(program: Program, ask: Ask): Promise<Start> {
  const started = await start(program);
  try {
    await ask(started.urls);
    const wallMs = performance.now() - started.startedAt;
    const { cpuMs } = await started.usage();
    return { wallMs, cpuMs };
  } finally {
    await started.stop();
  }
}

function post(event: typeof ingressEvent): Ask {
  return async ([url = missing()]) => expectStatus(url, event, 204);
}

function review(ca: Buffer): Ask {
  const body = JSON.stringify({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: { uid: '1', operation: 'CREATE', object: { metadata: { name: 'shop' } } },
  });
  return async ([, url = missing()]) => {
    const agent = new https.Agent({ ca, servername: webhookHost });
    const sent = { path: '/validate', headers: { 'content-type': 'application/json' }, body, agent };
    for (;;) {
      // The port is open before the certificate is there.
      const answer = await send(url, sent).catch(() => undefined);
      if (answer?.status === 200) {
        return;
      }
      if (answer !== undefined) {
        throw new Error(`admission answered ${answer.status}`);
      }
    }
  };
}

function missing(): never {
  throw new Error('the program reports no address');
}

function compare(what: string, starts: readonly Start[], bare: readonly Start[], limit?: Figure['bar']): Figure[] {
  return (['wallMs', 'cpuMs'] as const).map((key) => {
    const own = starts.map((each) => each[key]);
    const base = bare.map((each) => each[key]);
    return {
      what: `${what}, ${key === 'wallMs' ? 'wall' : 'CPU'}`,
      value: ratio(own, base),
      unit: '×',
      ...(limit === undefined ? {} : { bar: limit }),
      measured: `${median(own).toFixed(0)} ms / ${median(base).toFixed(0)} ms`,
    };
  });
}
