import type { Readable } from 'node:stream';

/**
 * The whole body of an answer. Rejects if it breaks off or is larger than the limit. Uses events, because iterating
 * over the hundreds of chunks of a large body costs more than reading them.
 */
export function wholeBody(answer: Readable, limit = Number.POSITIVE_INFINITY): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    answer.on('data', (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size > limit) {
        answer.destroy(new Error(`the response is larger than ${limit} bytes`));
      }
    });
    answer.once('end', () => resolve(joined(chunks)));
    answer.once('error', reject);
    answer.once('close', () => {
      // Created only if needed: an error's stack costs more than a small answer.
      if (!answer.readableEnded) {
        reject(new Error('the connection closed before the response was complete'));
      }
    });
  });
}

/** Most bodies are one chunk and need no copy. */
export function joined(chunks: readonly Buffer[]): Buffer {
  const [only] = chunks;
  return only !== undefined && chunks.length === 1 ? only : Buffer.concat(chunks);
}
