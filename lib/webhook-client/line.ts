/** One request to a webhook, in whichever HTTP it is sent. */
export interface Post {
  /** As in the URL, with its port. */
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
  /** Ends it without an answer, and the connection with it: what else would come that way is not known to come. */
  readonly abandon: () => void;
}

/** An open way to a webhook. */
export interface Line {
  /** It takes no more requests; those under way may still be answered. */
  readonly isOver: () => boolean;
  readonly send: (post: Post) => Sent;
}

/** The webhook says that it has not looked at the request: it can be sent again. */
export class Unprocessed extends Error {}

/** As an API server's, whatever HTTP carries them. */
export const headers = {
  'user-agent': 'kube-apiserver-admission',
  'content-type': 'application/json',
  accept: 'application/json, */*',
} as const;

/** An API server closes idle connections to webhooks after this time. */
export const idleMs = 90_000;

export const maxAnswerBytes = 16 * 1024 * 1024;
