import type { ClientRequest, IncomingMessage } from 'node:http';
import { Agent, type RequestOptions, request as httpsRequest } from 'node:https';
import { createSecureContext } from 'node:tls';
import { wholeBody } from '../whole-body.ts';
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
    call: (target, review, options) => callWebhook(agents, target, review, options),
    close() {
      for (const agent of agents.values()) {
        agent.destroy();
      }
      agents.clear();
    },
  };
}

async function callWebhook(
  agents: Map<string, Agent>,
  target: WebhookTarget,
  review: AdmissionReview,
  options: CallOptions,
): Promise<AdmissionReview> {
  const url = withTimeout(target.url, options.timeoutMs);
  try {
    const agent = agentFor(agents, target);
    return read(await post(requestOptions(url, target, agent), JSON.stringify(review), options));
  } catch (error) {
    throw error instanceof WebhookFailure ? error : connectionFailure(url, error);
  }
}

/** Works on the text: `URL` would drop a port 443 that messages and the Host header show. */
function withTimeout(url: string, timeoutMs: number): string {
  return `${url}${url.includes('?') ? '&' : '?'}timeout=${Math.ceil(timeoutMs / 1000)}s`;
}

function agentFor(agents: Map<string, Agent>, { url, ca, serverName, address }: WebhookTarget): Agent {
  const key = JSON.stringify([new URL(url).host, ca, serverName, address]);
  const known = agents.get(key);
  if (known !== undefined) {
    return known;
  }
  const [oldest] = agents.keys();
  if (agents.size >= maxTargets && oldest !== undefined) {
    agents.get(oldest)?.destroy();
    agents.delete(oldest);
  }
  // An agent tells connections apart by their options: a context for them all spares it comparing certificates.
  const secureContext = createSecureContext(ca === undefined ? {} : { ca });
  const agent = new Agent({ keepAlive: true, timeout: idleMs, scheduling: 'lifo', secureContext });
  agents.set(key, agent);
  return agent;
}

function requestOptions(text: string, target: WebhookTarget, agent: Agent): RequestOptions {
  const url = new URL(text);
  const hostname = url.hostname.replace(/^\[|\]$/g, '');
  return {
    ...(target.address ?? { host: hostname, port: url.port === '' ? 443 : Number(url.port) }),
    agent,
    path: `${url.pathname}${url.search}`,
    method: 'POST',
    headers: {
      host: text.split('/')[2] ?? url.host,
      'user-agent': 'kube-apiserver-admission',
      'content-type': 'application/json',
      accept: 'application/json, */*',
    },
    ...serverNameOf(target.serverName ?? hostname),
  };
}

/** An address is not sent as a server name (RFC 6066); the certificate is then checked against the address dialled. */
function serverNameOf(name: string): { servername?: string } {
  return /^[\d.]+$|:/.test(name) ? {} : { servername: name };
}

interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

/** Ended by a timer and a listener: a signal that joins both costs as much as a quarter of a call. */
async function post(options: RequestOptions, body: string, { timeoutMs, signal }: CallOptions): Promise<Answer> {
  signal?.throwIfAborted();
  const request = httpsRequest(options);
  let ending: unknown;
  function end(reason: unknown): void {
    ending = reason;
    request.destroy();
  }
  const timer = setTimeout(() => end(new Error('context deadline exceeded')), timeoutMs);
  function giveUp(): void {
    end(signal?.reason);
  }
  signal?.addEventListener('abort', giveUp);
  try {
    const message = await answerTo(request, body);
    const text = (await wholeBody(message, maxAnswerBytes)).toString();
    return { status: message.statusCode ?? 0, contentType: message.headers['content-type'] ?? '', text };
  } catch (error) {
    throw ending ?? error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', giveUp);
  }
}

function answerTo(request: ClientRequest, body: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.on('response', resolve);
    request.on('error', reject);
    request.end(body);
  });
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
