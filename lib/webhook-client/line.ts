/** One request to a webhook, independent of the HTTP version. */
export interface Post {
  /** As in the URL, including its port. */
  readonly host: string;
  readonly path: string;
  readonly body: string;
}

export interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

export interface Sent {
  readonly answer: Promise<Answer>;
  /** Abandons the request and its connection, because the state of the connection is unknown then. */
  readonly abandon: () => void;
}

/** An open connection, or a pool of them, to a webhook. */
export interface Line {
  /** Whether it takes no more requests; active ones may still be answered. */
  readonly isOver: () => boolean;
  readonly send: (post: Post) => Sent;
}

/** The webhook did not process the request, so it can be sent again. */
export class Unprocessed extends Error {}

/** The headers of an API server, in any HTTP version. */
export const headers = {
  'user-agent': 'kube-apiserver-admission',
  'content-type': 'application/json',
  accept: 'application/json, */*',
} as const;

/** An API server closes idle connections to webhooks after this time. */
export const idleMs = 90_000;

export const maxAnswerBytes = 16 * 1024 * 1024;
