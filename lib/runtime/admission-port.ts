import { ConfigError } from '../function/config.ts';
import type { Front, FrontOptions, TlsMaterial } from '../http/front.ts';
import type { Instance } from './instance.ts';
import { admissionSurface } from './surface.ts';
import type { Certificate } from '../tls/serving.ts';

/** The port where the API server asks. */
export interface AdmissionPort {
  readonly url: URL | undefined;
  /** Why no review should be sent here, if so. */
  readonly problem: () => Promise<string | undefined>;
}

export interface AdmissionPortOptions {
  readonly port: number;
  readonly host: string | undefined;
  /** A certificate that stays; without it the one admitting function of the process keeps its own. */
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
    throw new ConfigError(['TLS_MODE can be set for one function of a process only: it has one admission port']);
  }
  return kept[0];
}

/** A process that is there for nothing else must not seem fit for it. */
function missing(admitting: readonly Instance[]): string | undefined {
  return admitting.some(({ role }) => role === 'admission')
    ? 'there is no certificate: TLS_MODE says where it comes from'
    : undefined;
}
