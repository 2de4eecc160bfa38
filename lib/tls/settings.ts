import type * as z from 'zod/mini';
import { dnsLabel, forInstaller, integer, oneOf, text, withDefault } from '../function/config.ts';

const modes = ['self', 'files', 'cert-manager', 'gardener', 'none'] as const;

export type TlsMode = (typeof modes)[number];

export interface TlsConfig {
  readonly TLS_MODE?: TlsMode | undefined;
  readonly CERT_DIR: string;
  readonly TLS_SECRET: string;
  readonly WEBHOOK_SERVICE: string;
  readonly CERT_POLL_SECONDS: number;
  readonly CA_PROPAGATION_SECONDS: number;
  readonly CA_RETIRE_SECONDS: number;
}

const secretName = {
  test: /^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$/,
  says: 'must be the name of a Secret (a-z, 0-9, -, .)',
};

function seconds(about: string, { example, min = 1 }: { readonly example: number; readonly min?: number }) {
  return withDefault(integer({ about, example: String(example), min, max: 31_536_000 }), example);
}

/** The settings about the certificate, for a function that admits. */
export function tlsSettings(name: string): Record<keyof TlsConfig, z.core.$ZodType> {
  return {
    /** Default: `files` if CERT_DIR exists, otherwise `none`. */
    TLS_MODE: forInstaller(
      oneOf(modes, { about: 'where the certificate comes from; none: from whatever starts the process' }),
    ),
    CERT_DIR: withDefault(
      text({ about: 'where tls.crt, tls.key and ca.crt are mounted', example: '/etc/webhook/certs' }),
      '/etc/webhook/certs',
    ),
    TLS_SECRET: withDefault(
      text({ about: 'the Secret of the certificate', example: `${name}-certificates`, pattern: secretName }),
      `${name}-certificates`,
    ),
    WEBHOOK_SERVICE: withDefault(
      text({ about: 'the Service that the API server calls', example: `${name}-webhook`, pattern: dnsLabel }),
      `${name}-webhook`,
    ),
    CERT_POLL_SECONDS: seconds('how often to look for a new certificate', { example: 10 }),
    CA_PROPAGATION_SECONDS: seconds('how long a new CA is published before its first certificate is used', {
      example: 15,
      min: 0,
    }),
    CA_RETIRE_SECONDS: seconds('how long an old CA stays trusted after a new one was published', { example: 86_400 }),
  };
}
