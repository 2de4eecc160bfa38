import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Body } from './client.ts';

/** The request part of an AdmissionReview. */
export interface AdmissionRequest {
  readonly uid: string;
  readonly kind: object;
  readonly resource: object;
  readonly subResource?: string;
  readonly requestKind: object;
  readonly requestResource: object;
  readonly name?: string;
  readonly namespace?: string;
  readonly operation: string;
  readonly userInfo: { readonly username: string; readonly groups: readonly string[] };
  readonly object: Body | null;
  readonly oldObject: Body | null;
  readonly dryRun: boolean;
  readonly options: object;
}

export interface AdmissionResponse {
  readonly uid?: string;
  readonly allowed?: boolean;
  /** Operations of a JSON patch. */
  readonly patch?: readonly object[];
  readonly warnings?: readonly string[];
  readonly status?: object;
}

export type Hook = (
  request: AdmissionRequest,
  search: URLSearchParams,
) => AdmissionResponse | Promise<AdmissionResponse>;

/** An HTTPS server that answers reviews by path. */
export interface HookServer {
  readonly url: string;
  /** PEM, base64 as webhook configurations want it. */
  readonly caBundle: string;
  readonly on: (path: string, hook: Hook) => void;
  readonly close: () => Promise<void>;
}

/** Its certificate is good for 127.0.0.1 and for this name. */
export async function startHookServer(name: string): Promise<HookServer> {
  const { certificate, key } = await selfSigned(name);
  const hooks = new Map<string, Hook>();
  const server = createServer({ cert: certificate, key }, (request, response) => {
    const url = new URL(request.url ?? '/', 'https://hooks');
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      void answer(Buffer.concat(chunks).toString('utf8'), url, hooks).then((text) => {
        response.writeHead(200, { 'content-type': 'application/json' }).end(text);
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://127.0.0.1:${String(port)}`,
    caBundle: Buffer.from(certificate).toString('base64'),
    on: (path, hook) => {
      hooks.set(path, hook);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(text: string, url: URL, hooks: ReadonlyMap<string, Hook>): Promise<string> {
  const { request } = JSON.parse(text) as { request: AdmissionRequest };
  const { patch, ...response } = (await hooks.get(url.pathname)?.(request, url.searchParams)) ?? {};
  return JSON.stringify({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response: {
      uid: request.uid,
      allowed: true,
      ...response,
      ...(patch === undefined
        ? {}
        : { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') }),
    },
  });
}

async function selfSigned(name: string): Promise<{ certificate: string; key: string }> {
  const x509 = await import('@peculiar/x509'); // wants reflect-metadata loaded before it
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=hooks',
    notBefore: new Date(Date.now() - 60_000),
    notAfter: new Date(Date.now() + 3_600_000),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.SubjectAlternativeNameExtension([
        { type: 'ip', value: '127.0.0.1' },
        { type: 'dns', value: name },
      ]),
    ],
  });
  const exported = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
  const key = `-----BEGIN PRIVATE KEY-----\n${Buffer.from(exported).toString('base64')}\n-----END PRIVATE KEY-----\n`;
  return { certificate: certificate.toString('pem'), key };
}
