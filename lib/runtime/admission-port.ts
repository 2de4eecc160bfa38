import { ConfigError } from '../function/config.ts';
import type { Front, FrontOptions, TlsMaterial } from '../http/front.ts';
import type { Instance } from './instance.ts';
import { admissionSurface } from './surface.ts';
import type { Certificate } from '../tls/serving.ts';

/** The TLS port for AdmissionReviews. */
export interface AdmissionPort {
  readonly url: URL | undefined;
  /** Why no review should be sent here; `undefined` if all is well. */
  readonly problem: () => Promise<string | undefined>;
}

export interface AdmissionPortOptions {
  readonly port: number;
  readonly host: string | undefined;
  /** A fixed certificate; without it, the one function that admits maintains its own. */
  readonly given: TlsMaterial | undefined;
  readonly open: (front: FrontOptions) => Promise<Front>;
}

/** Opens the port if a function of the process admits and has, or will have, a certificate. */
export async function openAdmissionPort(
  instances: readonly Instance[],
  { port, host, given, open }: AdmissionPortOptions,
): Promise<AdmissionPort> {
  const admitting = instances.filter(({ admissions }) => admissions.size > 0);
  const certificate = given === undefined ? keptCertificate(admitting) : undefined;
  if (admitting.length === 0 || (given === undefined && certificate === undefined)) {
    return { url: undefined, problem: () => Promise.resolve(missing(admitting)) };
  }
  const front = await open({ port, host, tls: given ?? {}, answer: admissionSurface(admitting) });
  certificate?.onShow(({ cert, key }) => front.renew({ cert, key }));
  return {
    url: front.url,
    problem: () => certificate?.problem(Number(front.url.port)) ?? Promise.resolve(undefined),
  };
}

function keptCertificate(admitting: readonly Instance[]): Certificate | undefined {
  const kept = admitting.flatMap(({ certificate }) => (certificate?.mode === 'none' ? [] : (certificate ?? [])));
  if (kept.length > 1) {
    throw new ConfigError([
      'TLS_MODE can be set for only one function of a process, because a process has one admission port',
    ]);
  }
  return kept[0];
}

/** A process that only admits is not ready without a certificate. */
function missing(admitting: readonly Instance[]): string | undefined {
  return admitting.some(({ role }) => role === 'admission')
    ? 'there is no certificate; set TLS_MODE to where it comes from'
    : undefined;
}
