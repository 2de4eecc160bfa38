/** How a bundle is started in an image. */
export interface Launch {
  readonly flags: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * Node's compile cache spares parsing; it is keyed by user id and may be read-only once it is warm. A function trusts
 * the certificate authority that its cluster gives it, so the public ones are not read: a tenth of the start. One that
 * calls other addresses sets SSL_CERT_FILE.
 */
export function launch({ compileCache }: { readonly compileCache: string }): Launch {
  return {
    flags: ['--use-openssl-ca'],
    environment: { NODE_COMPILE_CACHE: compileCache, SSL_CERT_FILE: '/dev/null', SSL_CERT_DIR: '/dev/null' },
  };
}
