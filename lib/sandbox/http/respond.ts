import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { formatYaml } from './body.ts';
import { ApiError } from '../model/status.ts';

/** An answer; a watch writes its own and returns none. */
export interface Answer {
  readonly code: number;
  /** JSON. */
  readonly text: string;
}

export interface Manner {
  readonly isYaml: boolean;
  /** Indented, for people. */
  readonly isPretty: boolean;
  readonly isHead: boolean;
  readonly warnings: readonly string[];
}

const longestWarnings = 4096;

/** Writes a complete answer. */
export async function respond(response: ServerResponse, { code, text }: Answer, manner: Manner): Promise<void> {
  // As bytes: Node would join a text with the headers and encode those a second time.
  const body = Buffer.from(await formatted(text, manner));
  response.statusCode = code;
  setCommonHeaders(response, manner.warnings);
  response.setHeader('content-type', manner.isYaml ? 'application/yaml' : 'application/json');
  response.setHeader('content-length', body.length);
  response.end(manner.isHead ? undefined : body);
}

/** What was thrown, as an answer. Anything but a refusal is a fault of the sandbox. */
export function refusalOf(error: unknown): ApiError {
  if (error instanceof ApiError) {
    return error;
  }
  const message = `Internal error occurred: ${error instanceof Error ? error.message : String(error)}`;
  return new ApiError(500, { reason: 'InternalError', message });
}

export function setCommonHeaders(response: ServerResponse, warnings: readonly string[]): void {
  response.setHeader('audit-id', randomUUID());
  response.setHeader('cache-control', 'no-cache, private');
  const shown = bounded(warnings);
  if (shown.length > 0) {
    response.setHeader('warning', shown);
  }
}

async function formatted(text: string, { isYaml, isPretty }: Manner): Promise<string> {
  if (isYaml) {
    return formatYaml(JSON.parse(text));
  }
  return isPretty ? `${JSON.stringify(JSON.parse(text), undefined, 2)}\n` : text;
}

/** Each different warning once, as a header value, while they are not too long together. */
function bounded(warnings: readonly string[]): string[] {
  const shown: string[] = [];
  let length = 0;
  for (const warning of new Set(warnings)) {
    length += warning.length;
    if (length <= longestWarnings) {
      shown.push(`299 - ${quoted(warning)}`);
    }
  }
  return shown;
}

/** Headers take bytes; other characters travel as UTF-8. */
function quoted(text: string): string {
  const plain = text.replaceAll(/\p{Cc}/gu, ' ').replaceAll(/["\\]/g, '\\$&');
  return Buffer.from(`"${plain}"`, 'utf8').toString('latin1');
}
