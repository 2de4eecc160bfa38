import { memoryOf, standardYoungMb } from '../lib/install/manifests/container.ts';

/** How a bundle is started in an image. */
export interface Launch {
  readonly flags: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * Node's compile cache spares parsing; it is keyed by user id and may be read-only once it is warm. A function trusts
 * the certificate authority that its cluster gives it, so the public ones are not read: a tenth of the start. One that
 * calls other addresses sets SSL_CERT_FILE.
 *
 * With 1 MB for young objects at first, as V8 would take, a start stops to look for garbage where there is none: 3 ms.
 * With 32 MB in the end, as V8 would take, bodies of requests that are long done add up until the whole heap is marked
 * for them: that costs a webhook a tenth of its CPU, and 30 MB.
 */
export function launch({ compileCache }: { readonly compileCache: string }): Launch {
  return {
    flags: ['--use-openssl-ca', '--min-semi-space-size=4'],
    environment: {
      ...memoryOf({ youngMb: standardYoungMb }), // not among the flags, which would win over what a manifest says
      NODE_COMPILE_CACHE: compileCache,
      SSL_CERT_FILE: '/dev/null',
      SSL_CERT_DIR: '/dev/null',
    },
  };
}
