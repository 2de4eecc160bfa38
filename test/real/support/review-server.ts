import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { AdmissionRequest, AdmissionResponse, AdmissionReview } from '../../../lib/kube/model/review.ts';
import { createCertificates } from '../../../lib/sandbox/http/certificates.ts';

export type Answer = Omit<AdmissionResponse, 'uid'>;

/** A webhook in this process, for an API server to ask. */
export interface ReviewServer {
  /** What a webhook configuration says to reach it. */
  readonly clientConfig: { readonly url: string; readonly caBundle: string };
  readonly close: () => void;
}

export async function startReviewServer(
  answer: (request: AdmissionRequest) => Promise<Answer> | Answer,
): Promise<ReviewServer> {
  const { ca, certificate: cert, key } = await createCertificates(new Date());

  async function reviewed({ request, ...envelope }: AdmissionReview): Promise<AdmissionReview> {
    if (request === undefined) {
      throw new Error('a review without a request');
    }
    return { ...envelope, response: { uid: request.uid, ...(await answer(request)) } };
  }

  const server = createServer({ cert, key }, (request, response) => {
    request
      .toArray()
      .then((chunks: Buffer[]) => reviewed(JSON.parse(Buffer.concat(chunks).toString()) as AdmissionReview))
      .then((review) => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(review)))
      .catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    clientConfig: { url: `https://127.0.0.1:${port}/`, caBundle: Buffer.from(ca).toString('base64') },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
