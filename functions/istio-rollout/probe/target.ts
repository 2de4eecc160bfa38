import type { WebhookTarget } from '../../../lib/review/call.ts';
import type { Injector } from '../mesh/webhooks.ts';

/** Where to ask an injector, or why it cannot be asked yet. */
export type Reachable = { readonly target: WebhookTarget } | { readonly problem: string };

/** As the API server reads `clientConfig`. Only its own bundle is trusted; a Service without one is not ready yet. */
export function targetOf({ clientConfig: { url, service, caBundle = '' } }: Injector): Reachable {
  const ca = Buffer.from(caBundle, 'base64').toString();
  if (url !== undefined && url !== '') {
    return { target: { url, ...(ca === '' ? {} : { ca }) } };
  }
  if (service === undefined) {
    return { problem: 'the webhook names neither a URL nor a Service' };
  }
  if (ca === '') {
    return { problem: 'the webhook has no caBundle yet' };
  }
  const { name, namespace, port = 443, path = '' } = service;
  const host = `${name}.${namespace}.svc`;
  const slashed = path.startsWith('/') ? path : `/${path}`;
  return { target: { url: `https://${host}:${port}${path === '' ? '/inject' : slashed}`, ca, serverName: host } };
}
