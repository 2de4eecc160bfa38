import type {
  MutatingWebhookConfiguration,
  Secret,
  ValidatingWebhookConfiguration,
} from '../../kube/model/resource.ts';
import { decodeBundle } from '../../tls/bundle.ts';
import { examine, Unfit } from '../../tls/certificate.ts';
import type { Found } from './finding.ts';

export interface Trust {
  readonly configuration: MutatingWebhookConfiguration | ValidatingWebhookConfiguration;
  /** Absent where the doctor may not read it. */
  readonly secret: Secret | undefined;
  readonly now: Date;
}

/** Whether the API server, with the bundle that it was given, accepts the certificate that the webhook shows. */
export function examineTrust({ configuration, secret, now }: Trust): Found[] {
  return (configuration.webhooks ?? []).map(({ name, clientConfig }) => {
    const check = `certificate for ${name}`;
    const bundle = decodeBundle(clientConfig.caBundle);
    if (bundle.length === 0) {
      return {
        check,
        state: 'error',
        message: 'caBundle is empty: the API server trusts nobody there',
        fix: 'the function fills it in once it runs; look at its log',
      };
    }
    if (secret === undefined) {
      return { check, state: 'unknown', message: 'the Secret with the certificate is absent or may not be read' };
    }
    const { name: service = '', namespace = '' } = clientConfig.service ?? {};
    try {
      const pair = { cert: pemIn(secret, 'tls.crt'), key: pemIn(secret, 'tls.key'), ca: bundle.map(String).join('') };
      const { leaf } = examine(pair, { now, host: `${service}.${namespace}.svc` });
      return { check, state: 'ok', message: `trusted, valid until ${leaf.validToDate.toISOString()}` };
    } catch (error) {
      if (!(error instanceof Unfit)) {
        throw error;
      }
      const message = error.message.replace('ca.crt', 'caBundle');
      return { check, state: 'error', message, fix: 'the tick of the function repairs it; look at its log' };
    }
  });
}

function pemIn({ data }: Secret, key: string): string {
  return Buffer.from(data?.[key] ?? '', 'base64').toString();
}
