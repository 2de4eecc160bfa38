import type { Counter, FunctionMetrics, Gauge } from '../function/metrics.ts';

/** What can be seen of the certificate from outside. */
export interface Measures {
  readonly reloads: Counter<'result'>;
  readonly leafExpiry: Gauge<never>;
  readonly authorityExpiry: Gauge<never>;
  readonly phase: Gauge<'phase'>;
  readonly inSync: Gauge<'configuration'>;
  readonly patches: Counter<'result'>;
}

export function measuresOf(metrics: FunctionMetrics): Measures {
  return {
    reloads: metrics.counter('tls_reload_total', 'Certificates found, by whether they could be shown.', ['result']),
    leafExpiry: metrics.gauge('tls_leaf_expiry_timestamp_seconds', 'When the certificate that is shown expires.'),
    authorityExpiry: metrics.gauge('tls_ca_expiry_timestamp_seconds', 'When the authority behind it expires.'),
    phase: metrics.gauge('tls_phase', '1 for the phase of the rotation of a certificate of our own.', ['phase']),
    inSync: metrics.gauge('cabundle_in_sync', '1 if the webhook configuration trusts what is shown.', [
      'configuration',
    ]),
    patches: metrics.counter('cabundle_patch_total', 'Writes of caBundle.', ['result']),
  };
}
