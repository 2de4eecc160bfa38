import type { ServerResponse } from 'node:http';
import { handling, type Failure } from '../base/failure.ts';

/** Answers 204, the only success that both brokers and kept connections handle well. */
export function sendNothing(response: ServerResponse): void {
  response.writeHead(204).end();
}

export function sendText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${text}\n`);
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(`${JSON.stringify(body)}\n`);
}

/** Answers with the status of a failure and one line. The cause of a bug is only logged. */
export function sendFailure(response: ServerResponse, { kind, message, retryAfter }: Failure): void {
  const { status, retry } = handling[kind];
  if (retry) {
    response.setHeader('retry-after', Math.max(1, Math.ceil(retryAfter ?? 1)));
  }
  sendText(response, status, `${kind}: ${message}`);
}
