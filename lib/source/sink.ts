import http from 'node:http';
import https from 'node:https';
import type { Message } from './event.ts';

/** The receiver of events: one URL, over kept connections. */
export interface Sink {
  /** Never rejects. */
  readonly post: (message: Message, signal: AbortSignal) => Promise<Reception>;
  readonly close: () => void;
}

/** The result of a delivery. `unavailable` is retried, `refused` is not. */
export interface Reception {
  readonly result: 'accepted' | 'refused' | 'unavailable';
  /** For the log: the status and the beginning of the answer, or why there was none. */
  readonly why: string;
}

/** The statuses that the adapter of ApiServerSource retries; 408, 409 and 500 are not among them. */
const retried: ReadonlySet<number> = new Set([404, 413, 425, 429, 502, 503, 504]);

/** As long as the adapter waits for an answer; the platform ends a request after five minutes, too. */
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

/** Reads the answer to its end, so that the connection can be reused, and returns its beginning. */
async function quote(response: http.IncomingMessage): Promise<string> {
  let text = '';
  response.setEncoding('utf8');
  try {
    for await (const chunk of response) {
      text = (text + String(chunk)).slice(0, quotedCharacters);
    }
  } catch {
    // The status decides; if the answer breaks off, there is only less to log.
  }
  return text;
}
