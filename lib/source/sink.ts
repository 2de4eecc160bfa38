import http from 'node:http';
import https from 'node:https';
import type { Message } from './event.ts';

/** Where events go: one URL, over connections that are kept. */
export interface Sink {
  /** Never rejects. */
  readonly post: (message: Message, signal: AbortSignal) => Promise<Reception>;
  readonly close: () => void;
}

/** What became of an event. `unavailable` is worth another try, `refused` is not. */
export interface Reception {
  readonly result: 'accepted' | 'refused' | 'unavailable';
  /** For people: the status and the beginning of the answer, or why there was none. */
  readonly why: string;
}

/** What the adapter of ApiServerSource tries again, besides connections that fail. Notably not 408, 409 and 500. */
const retried: ReadonlySet<number> = new Set([404, 413, 425, 429, 502, 503, 504]);

/** The platform ends a request after five minutes; so long the adapter waits for an answer. */
const silenceMs = 300_000;
const quotedCharacters = 200;

export function createSink(url: URL): Sink {
  const secure = url.protocol === 'https:';
  const agent = new (secure ? https : http).Agent({ keepAlive: true, scheduling: 'lifo' });

  function post({ headers, body }: Message, signal: AbortSignal): Promise<Reception> {
    return new Promise((resolve) => {
      const request = (secure ? https : http).request(url, {
        agent,
        method: 'POST',
        headers: { ...headers, 'user-agent': 'kube-reflex', 'content-length': Buffer.byteLength(body) },
        timeout: silenceMs,
        signal,
      });
      request.once('response', (response) => {
        void quote(response).then((text) => resolve(receptionOf(response.statusCode ?? 0, text)));
      });
      request.once('timeout', () => request.destroy(new Error('no answer in time')));
      request.on('error', (error: NodeJS.ErrnoException) =>
        resolve({ result: 'unavailable', why: error.code ?? error.message }),
      );
      request.end(body);
    });
  }

  return { post, close: () => agent.destroy() };
}

function receptionOf(status: number, text: string): Reception {
  const why = text === '' ? `HTTP ${status}` : `HTTP ${status}: ${text}`;
  if (status >= 200 && status < 300) {
    return { result: 'accepted', why };
  }
  return { result: retried.has(status) ? 'unavailable' : 'refused', why };
}

/** Reads to the end, so that the connection can be used again, and keeps the beginning. */
async function quote(response: http.IncomingMessage): Promise<string> {
  let text = '';
  response.setEncoding('utf8');
  try {
    for await (const chunk of response) {
      text = (text + String(chunk)).slice(0, quotedCharacters);
    }
  } catch {
    // The status has arrived and decides; an answer that breaks off is only less to show.
  }
  return text;
}
