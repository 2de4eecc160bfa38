import { connectionFailure, decodeReview, statusFailure, WebhookFailure } from './call-failure.ts';
import type { WebhookTarget } from './dial.ts';
import { createEndpoint, type Endpoint } from './endpoint.ts';
import type { CallOptions } from './limit.ts';
import type { Answer, Post } from './line.ts';
import type { AdmissionReview } from '../kube/model/review.ts';

export type { WebhookTarget } from './dial.ts';

/** Calls webhooks as an API server does. Keeps connections per target until `close`. */
export interface WebhookClient {
  /** Throws `WebhookFailure` with the API server's message if there is no valid review. */
  call(target: WebhookTarget, review: AdmissionReview, options: CallOptions): Promise<AdmissionReview>;
  /** Aborts active calls; later ones fail. */
  close(): void;
}

const maxTargets = 200;
/** The API server's timeout for connecting. */
const dialMs = 30_000;

export function createWebhookClient({ connectMs = dialMs }: { readonly connectMs?: number } = {}): WebhookClient {
  const endpoints = new Map<string, Endpoint>();
  let isClosed = false;

  function endpointOf(target: WebhookTarget): Endpoint {
    const { url, ca, serverName, address } = target;
    const key = JSON.stringify([new URL(url).host, ca, serverName, address]);
    const known = endpoints.get(key);
    if (known !== undefined) {
      return known;
    }
    const [oldest] = endpoints.keys();
    if (endpoints.size >= maxTargets && oldest !== undefined) {
      endpoints.get(oldest)?.close();
      endpoints.delete(oldest);
    }
    const endpoint = createEndpoint(target, connectMs);
    endpoints.set(key, endpoint);
    return endpoint;
  }

  return {
    async call(target, review, options) {
      const url = withTimeout(target.url, options.timeoutMs);
      if (isClosed) {
        throw new WebhookFailure(`Post "${url}": the client is closed`);
      }
      try {
        return read(await endpointOf(target).post(postOf(url, review), options));
      } catch (error) {
        throw error instanceof WebhookFailure ? error : connectionFailure(url, error);
      }
    },
    close() {
      isClosed = true;
      for (const endpoint of endpoints.values()) {
        endpoint.close();
      }
      endpoints.clear();
    },
  };
}

/** Edits the text of the URL, because `URL` drops port 443, which messages and the Host header show. */
function withTimeout(url: string, timeoutMs: number): string {
  return `${url}${url.includes('?') ? '&' : '?'}timeout=${Math.ceil(timeoutMs / 1000)}s`;
}

function postOf(text: string, review: AdmissionReview): Post {
  const { host, pathname, search } = new URL(text);
  return { host: text.split('/')[2] ?? host, path: `${pathname}${search}`, body: JSON.stringify(review) };
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
