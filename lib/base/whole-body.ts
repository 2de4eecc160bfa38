import type { Readable } from 'node:stream';

/**
 * The whole body of an answer; one that breaks off or is larger than the limit is an error. Large ones come in hundreds
 * of chunks: iterating over them would cost more than they do.
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
      // Only then: the stack of an error costs more than a small answer.
      if (!answer.readableEnded) {
        reject(new Error('the answer broke off'));
      }
    });
  });
}

/** Most bodies are one chunk, which needs no copy. */
export function joined(chunks: readonly Buffer[]): Buffer {
  const [only] = chunks;
  return only !== undefined && chunks.length === 1 ? only : Buffer.concat(chunks);
}
