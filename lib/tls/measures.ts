import type { Counter, FunctionMetrics, Gauge } from '../function/metrics.ts';

/** The metrics of a certificate. */
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
    reloads: metrics.counter('tls_reload_total', 'Certificates found, by whether they could be used.', ['result']),
    leafExpiry: metrics.gauge('tls_leaf_expiry_timestamp_seconds', 'When the certificate in use expires.'),
    authorityExpiry: metrics.gauge('tls_ca_expiry_timestamp_seconds', 'When its certificate authority expires.'),
    phase: metrics.gauge('tls_phase', '1 for the current phase of the rotation in mode self.', ['phase']),
    inSync: metrics.gauge('cabundle_in_sync', '1 if the webhook configuration trusts the certificate in use.', [
      'configuration',
    ]),
    patches: metrics.counter('cabundle_patch_total', 'Writes of caBundle.', ['result']),
  };
}
