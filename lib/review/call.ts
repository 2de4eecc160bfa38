import { Agent, type RequestOptions, request as httpsRequest } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { connectionFailure, decodeReview, statusFailure, WebhookFailure } from './call-failure.ts';
import type { AdmissionReview } from './review.ts';

/** Where a webhook answers. */
export interface WebhookTarget {
  /** `https://host[:port]/path`; the host is what the certificate must name unless `serverName` is given. */
  readonly url: string;
  /** PEM certificates that the webhook's certificate must lead to; without it the system's are trusted. */
  readonly ca?: string;
  readonly serverName?: string;
  /** Dialled in place of the URL's host and port, as an API server does with the address of a Service. */
  readonly address?: { readonly host: string; readonly port: number };
}

export interface CallOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/** Calls webhooks as an API server does. Connections stay open per target until `close`. */
export interface WebhookClient {
  /** Throws `WebhookFailure` with the API server's words when there is no review to be had. */
  call(target: WebhookTarget, review: AdmissionReview, options: CallOptions): Promise<AdmissionReview>;
  close(): void;
}

/** The API server drops idle webhook connections after this time. */
const idleMs = 90_000;
const maxTargets = 200;
const maxAnswerBytes = 16 * 1024 * 1024;

export function createWebhookClient(): WebhookClient {
  const agents = new Map<string, Agent>();
  return {
    call: (target, review, options) => callWebhook(target, review, { ...options, agent: agentFor(agents, target) }),
    close() {
      for (const agent of agents.values()) {
        agent.destroy();
      }
      agents.clear();
    },
  };
}

/** One call. Without an agent the connection ends with it. */
export async function callWebhook(
  target: WebhookTarget,
  review: AdmissionReview,
  options: CallOptions & { readonly agent?: Agent },
): Promise<AdmissionReview> {
  const url = withTimeout(target.url, options.timeoutMs);
  const deadline = AbortSignal.timeout(options.timeoutMs);
  const signal = options.signal === undefined ? deadline : AbortSignal.any([deadline, options.signal]);
  try {
    const answer = await post(JSON.stringify(review), { ...requestOptions(url, target, options.agent), signal });
    return read(answer);
  } catch (error) {
    throw error instanceof WebhookFailure ? error : connectionFailure(url, error, deadline.aborted);
  }
}

/** Works on the text: `URL` would drop a port 443 that messages and the Host header show. */
function withTimeout(url: string, timeoutMs: number): string {
  return `${url}${url.includes('?') ? '&' : '?'}timeout=${Math.ceil(timeoutMs / 1000)}s`;
}

interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

function agentFor(agents: Map<string, Agent>, target: WebhookTarget): Agent {
  const { host } = new URL(target.url);
  const key = JSON.stringify([host, target.ca, target.serverName, target.address]);
  const known = agents.get(key);
  if (known !== undefined) {
    return known;
  }
  const [oldest] = agents.keys();
  if (agents.size >= maxTargets && oldest !== undefined) {
    agents.get(oldest)?.destroy();
    agents.delete(oldest);
  }
  const agent = new Agent({ keepAlive: true, timeout: idleMs, scheduling: 'lifo' });
  agents.set(key, agent);
  return agent;
}

function requestOptions(text: string, target: WebhookTarget, agent: Agent | undefined): RequestOptions {
  const url = new URL(text);
  const hostname = url.hostname.replace(/^\[|\]$/g, '');
  return {
    ...(target.address ?? { host: hostname, port: url.port === '' ? 443 : Number(url.port) }),
    path: `${url.pathname}${url.search}`,
    method: 'POST',
    headers: {
      host: text.split('/')[2] ?? url.host,
      'user-agent': 'kube-apiserver-admission',
      'content-type': 'application/json',
      accept: 'application/json, */*',
    },
    ...serverNameOf(target.serverName ?? hostname),
    ...(target.ca === undefined ? {} : { ca: target.ca }),
    ...(agent === undefined ? {} : { agent }),
  };
}

/** An address is not sent as a server name (RFC 6066); the certificate is then checked against the address dialled. */
function serverNameOf(name: string): { servername?: string } {
  return /^[\d.]+$|:/.test(name) ? {} : { servername: name };
}

function post(body: string, options: RequestOptions): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = httpsRequest(options, (message) => {
      collect(message).then((text) => {
        const contentType = message.headers['content-type'] ?? '';
        resolve({ status: message.statusCode ?? 0, contentType, text });
      }, reject);
    });
    request.on('error', reject);
    request.end(body);
  });
}

async function collect(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxAnswerBytes) {
      message.destroy();
      throw new WebhookFailure(`the response is larger than ${maxAnswerBytes} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function read({ status, contentType, text }: Answer): AdmissionReview {
  if (status < 200 || status > 299) {
    throw statusFailure(status, contentType, text);
  }
  if (text === '') {
    throw new WebhookFailure(`0-length response with status code: ${status} and content type: ${contentType}`);
  }
  return decodeReview(text);
}
