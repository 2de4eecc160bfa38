import type { AdmissionregistrationV1WebhookClientConfig } from '@kubernetes/client-node';
import type { Wire } from '../../kube/model/wire.ts';
import type { WebhookTarget } from '../../webhook-client/call.ts';
import type { InternalApi, KindRef } from '../model/internal.ts';
import { present } from '../model/present.ts';
import { stringAt } from '../schema/value.ts';

export type ClientConfig = Wire<AdmissionregistrationV1WebhookClientConfig>;

/** Where the port of a Service is to be dialled; `undefined` leaves it to the rule for Services without pods. */
export type ServiceAddress = (
  namespace: string,
  name: string,
  port: number,
) => { readonly host: string; readonly port: number } | undefined;

const services: KindRef = { group: '', plural: 'services' };

/**
 * No pod runs anywhere, so a Service leads to this machine at the same port;
 * one of type ExternalName leads to the host that it names.
 */
export function webhookTarget(
  { url, service, caBundle }: ClientConfig,
  api: Pick<InternalApi, 'get'>,
  serviceAddress?: ServiceAddress,
): WebhookTarget {
  const ca = caBundle === undefined ? undefined : Buffer.from(caBundle, 'base64').toString('utf8');
  if (service === undefined) {
    return { url: url ?? '', ...present({ ca }) };
  }
  const { namespace, name, port = 443, path = '' } = service;
  const host = `${name}.${namespace}.svc`;
  const address = serviceAddress?.(namespace, name, port) ?? storedAddress(api, { namespace, name, port });
  return {
    url: `https://${host}:${port}${path.startsWith('/') ? path : `/${path}`}`,
    serverName: host,
    ...present({ ca, address }),
  };
}

/** Whether the Service that a webhook names is known; its absence is a failure with words of its own. */
export function missingService(
  { service }: ClientConfig,
  api: Pick<InternalApi, 'get'>,
  serviceAddress?: ServiceAddress,
): string | undefined {
  if (service === undefined) {
    return undefined;
  }
  const { namespace, name, port = 443 } = service;
  const isKnown =
    serviceAddress?.(namespace, name, port) !== undefined || api.get(services, name, namespace) !== undefined;
  return isKnown ? undefined : `service "${name}" not found`;
}

function storedAddress(
  api: Pick<InternalApi, 'get'>,
  { namespace, name, port }: { readonly namespace: string; readonly name: string; readonly port: number },
): { host: string; port: number } {
  const service = api.get(services, name, namespace);
  const externalName = stringAt(service, 'spec', 'externalName');
  const isLocal = externalName === undefined || externalName === 'localhost';
  return { host: isLocal ? '127.0.0.1' : externalName, port };
}
