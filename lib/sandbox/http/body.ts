import type { IncomingMessage } from 'node:http';
import { ApiError, badRequest } from '../model/status.ts';

export interface Body {
  readonly bytes: Buffer;
  readonly contentType: string | undefined;
}

const limit = 3 * 1024 * 1024;

/** The whole body; refuses more than the API server takes. */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    const bytes = chunk as Buffer;
    length += bytes.length;
    if (length > limit) {
      throw new ApiError(413, {
        reason: 'RequestEntityTooLarge',
        message: `Request entity too large: limit is ${limit}`,
      });
    }
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

/** `application/json; charset=utf-8` → `application/json`. */
export function mediaType(header: string | undefined): string {
  return (header ?? '').split(';', 1).join('').trim().toLowerCase();
}

/** Parses YAML, which JSON is a part of; the parser loads when it is first needed. */
export async function parseYaml(text: string): Promise<unknown> {
  const { parse } = await import('yaml');
  try {
    return parse(text, { maxAliasCount: 100 }) as unknown;
  } catch (error) {
    throw badRequest(`error parsing YAML: ${error instanceof Error ? error.message : String(error)}`);
  }
}

export async function formatYaml(value: unknown): Promise<string> {
  const { stringify } = await import('yaml');
  return stringify(value, { aliasDuplicateObjects: false, lineWidth: 0 });
}
