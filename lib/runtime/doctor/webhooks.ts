import type { Admission } from '../../function/admission.ts';
import type { Kube } from '../../kube/client.ts';
import { secrets } from '../../kube/model/resource.ts';
import { partName } from '../../function/names.ts';
import { replicasOf } from '../../tls/probe.ts';
import type { TlsConfig } from '../../tls/settings.ts';
import { targetsOf } from '../../tls/webhooks.ts';
import type { Found } from './finding.ts';
import { orFailure, readable } from './look.ts';
import { examineTrust } from './trust.ts';

type Asking = Pick<Admission, 'type' | 'webhooks'>;

/** The admission half of a function as it is set up. */
export interface Admitting {
  readonly name: string;
  readonly admit: readonly Asking[];
  readonly config: unknown;
}

interface Place {
  readonly kube: Kube;
  readonly namespace: string;
  readonly now: Date;
}

/** Whether the API server finds somebody behind each webhook, and trusts him. */
export async function checkWebhooks({ name, admit, config }: Admitting, place: Place): Promise<Found[]> {
  const { TLS_SECRET, WEBHOOK_SERVICE = partName(name, 'webhook') } = config as Partial<TlsConfig>;
  const targets = targetsOf(name, admit);
  const found = await Promise.all([
    ...targets.map((target) => checkTrust(target, { ...place, secret: TLS_SECRET })),
    ...(targets.length === 0 ? [] : [checkReach(WEBHOOK_SERVICE, { admit, targets }, place)]),
  ]);
  return found.flat();
}

async function checkTrust(
  { resource, name }: ReturnType<typeof targetsOf>[number],
  { kube, namespace, now, secret }: Place & { readonly secret: string | undefined },
): Promise<Found[]> {
  return orFailure(`certificate of ${name}`, async () => {
    const configuration = await kube.get(resource, { name });
    const held = secret === undefined ? undefined : await readable(kube.get(secrets, { name: secret, namespace }));
    return configuration === undefined ? [] : examineTrust({ configuration, secret: held, now });
  });
}

interface Reach {
  readonly admit: readonly Asking[];
  readonly targets: ReturnType<typeof targetsOf>;
}

async function checkReach(
  service: string,
  { admit, targets }: Reach,
  { kube, namespace }: Omit<Place, 'now'>,
): Promise<Found[]> {
  const check = `replicas of ${service}`;
  const isStrict = admit.some(({ webhooks }) => webhooks.some(({ failurePolicy }) => failurePolicy === 'Fail'));
  return orFailure(check, async () => {
    const url = await urlOf(targets, kube);
    if (url !== undefined) {
      return [{ check, state: 'ok', message: `none needed: the API server calls ${url.origin}` }];
    }
    const replicas = await replicasOf(kube, { service, namespace });
    const meaning = isStrict ? 'every change that its webhooks match is refused' : 'everything passes unasked';
    return replicas.length === 0
      ? [
          {
            check,
            state: 'error',
            message: `the Service leads to no ready pod: ${meaning}`,
            fix: `kubectl -n ${namespace} describe deployment ${service}`,
          },
        ]
      : [{ check, state: 'ok', message: `${replicas.length} ready` }];
  });
}

/** Where the API server calls by URL instead of a Service, as that of `npm start` does. */
async function urlOf(targets: Reach['targets'], kube: Kube): Promise<URL | undefined> {
  const found = await Promise.all(targets.map(({ resource, name }) => readable(kube.get(resource, { name }))));
  const urls = found.flatMap((each) => each?.webhooks ?? []).map(({ clientConfig }) => clientConfig.url);
  const [first] = urls;
  return first !== undefined && urls.every((url) => url !== undefined) ? new URL(first) : undefined;
}
