import type { WebhookTarget } from '../../../lib/webhook-client/call.ts';
import type { Injector } from '../mesh/webhooks.ts';

/** Where to ask an injector, or why it cannot be asked yet. */
export type Reachable = { readonly target: WebhookTarget } | { readonly problem: string };

/** As the API server reads `clientConfig`. Only its own bundle is trusted; a Service without one is not ready yet. */
export function targetOf({ clientConfig: { url = '', service, caBundle = '' } }: Injector): Reachable {
  const ca = Buffer.from(caBundle, 'base64').toString();
  if (url !== '') {
    return { target: { url, ...(ca === '' ? {} : { ca }) } };
  }
  if (service === undefined) {
    return { problem: 'the webhook names neither a URL nor a Service' };
  }
  return ca === '' ? { problem: 'the webhook has no caBundle yet' } : { target: { ca, ...addressOf(service) } };
}

type Service = NonNullable<Injector['clientConfig']['service']>;

function addressOf({ name, namespace, port = 443, path = '' }: Service): Pick<WebhookTarget, 'url' | 'serverName'> {
  const serverName = `${name}.${namespace}.svc`;
  const slashed = path.startsWith('/') ? path : `/${path}`;
  return { url: `https://${serverName}:${port}${path === '' ? '/inject' : slashed}`, serverName };
}
