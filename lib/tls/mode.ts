import { existsSync } from 'node:fs';
import type { TlsConfig, TlsMode } from './settings.ts';

/** A laptop has no mounted certificate and needs none. */
export function modeOf({ TLS_MODE, CERT_DIR }: Pick<TlsConfig, 'TLS_MODE' | 'CERT_DIR'>): TlsMode {
  return TLS_MODE ?? (existsSync(CERT_DIR) ? 'files' : 'none');
}
