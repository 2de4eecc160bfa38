import { randomBytes } from 'node:crypto';
import type { Operation } from 'fast-json-patch';
import { pointer, unchanged, type CreateStep, type PatchStep } from '../kube/model/plan.ts';
import { secrets, type Secret } from '../kube/model/resource.ts';
import { issueAuthority, issueLeaf, type Issued } from '../base/x509.ts';
import { phaseAnnotation, sinceAnnotation } from './marks.ts';
import type { Move } from './self-move.ts';
import type { Phase, SelfState, Signer } from './self-state.ts';

/** The Secret, and what its certificates are for. */
export interface Place {
  /** The function. */
  readonly name: string;
  readonly namespace: string;
  readonly secret: string;
  readonly service: string;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const authorityDays = 365;
const leafDays = 90;

/** The Secret for the first start. If two replicas start at once, the second one uses the Secret of the first. */
export async function firstSecret(place: Place, now: Date): Promise<CreateStep> {
  const { name, namespace, secret } = place;
  const object: Secret = {
    metadata: {
      name: secret,
      namespace,
      labels: { 'app.kubernetes.io/name': name, 'app.kubernetes.io/part-of': 'kube-reflex' },
      annotations: annotationsFor(name, 'stable', now),
    },
    type: 'kubernetes.io/tls',
    data: encoded(await freshFiles(place, now)),
  };
  return { do: 'create', resource: secrets, object, why: 'create the first certificate' };
}

/** The step that makes the move; it fails if the Secret changed since it was read. */
export async function moveStep(
  secret: Secret,
  state: SelfState,
  { move, place, now }: { readonly move: Move; readonly place: Place; readonly now: Date },
): Promise<PatchStep> {
  const { phase, files } = await outcomeOf(move, state, { place, now });
  const { data, metadata } = secret;
  const fileOperations = Object.entries(files).flatMap(([file, text]): Operation[] => {
    const path = pointer('data', file);
    if (text !== undefined) {
      return [{ op: 'add', path, value: Buffer.from(text).toString('base64') }];
    }
    return data?.[file] === undefined ? [] : [{ op: 'remove', path }];
  });
  const annotations = phase === undefined ? {} : annotationsFor(place.name, phase, now);
  return {
    do: 'patch',
    resource: secrets,
    name: place.secret,
    namespace: place.namespace,
    operations: [
      unchanged(secret),
      ...(data === undefined ? [{ op: 'add', path: '/data', value: {} } as const] : []),
      ...fileOperations,
      ...(metadata?.annotations === undefined
        ? [{ op: 'add', path: '/metadata/annotations', value: {} } as const]
        : []),
      ...Object.entries(annotations).map(
        ([key, value]) => ({ op: 'add', path: pointer('metadata', 'annotations', key), value }) as const,
      ),
    ],
    why: whys[move],
  };
}

const whys: Readonly<Record<Move, string>> = {
  recreate: 'its certificates are not usable',
  'renew-leaf': 'the certificate is at two thirds of its lifetime, or not for this webhook',
  prepublish: 'the authority is at two thirds of its lifetime: publish its successor first',
  switch: 'every webhook trusts the new authority: sign with it',
  retire: 'every replica uses a certificate of the new authority: stop trusting the old one',
  settle: 'the rotation is over',
};

/** `undefined` removes a file. */
type Files = Readonly<Record<string, string | undefined>>;

interface Outcome {
  /** Absent: unchanged. */
  readonly phase?: Phase;
  readonly files: Files;
}

interface When {
  readonly place: Place;
  readonly now: Date;
}

async function outcomeOf(move: Move, state: SelfState, { place, now }: When): Promise<Outcome> {
  const { signer, next } = state;
  switch (move) {
    case 'recreate':
      return { phase: 'stable', files: { ...(await freshFiles(place, now)), ...noNext } };
    case 'renew-leaf':
      return { files: await leafFiles(required(signer), { place, now }) };
    case 'prepublish': {
      const { certificate, key } = await newAuthority(place, now);
      return {
        phase: 'prepublish',
        files: { 'next-ca.crt': certificate, 'next-ca.key': key, 'ca.crt': certificate + withoutNext(state) },
      };
    }
    case 'switch':
      return {
        phase: 'switch',
        files: { ...(await leafFiles(required(next), { place, now })), 'ca.key': required(next).key, ...noNext },
      };
    case 'retire':
      return { phase: 'retire', files: { 'ca.crt': String(required(signer).certificate) } };
    case 'settle':
      return { phase: 'stable', files: {} };
  }
}

const noNext: Files = { 'next-ca.crt': undefined, 'next-ca.key': undefined };

/** A prepared successor that was never used leaves the bundle when it is replaced. */
function withoutNext({ pair, generation }: SelfState): string {
  return generation === undefined ? pair.ca : String(generation.authority);
}

function required(signer: Signer | undefined): Signer {
  if (signer === undefined) {
    throw new Error('could not sign a certificate: there is no authority');
  }
  return signer;
}

async function freshFiles(place: Place, now: Date): Promise<Record<string, string>> {
  const authority = await newAuthority(place, now);
  const notAfter = new Date(now.getTime() + leafDays * dayMs);
  const leaf = await newLeaf(authority, place, { now, notAfter });
  return { 'tls.crt': leaf.certificate, 'tls.key': leaf.key, 'ca.crt': authority.certificate, 'ca.key': authority.key };
}

/** A certificate must not outlive its authority. */
async function leafFiles({ certificate, key }: Signer, { place, now }: When): Promise<Files> {
  const notAfter = new Date(Math.min(now.getTime() + leafDays * dayMs, certificate.validToDate.getTime()));
  const leaf = await newLeaf({ certificate: String(certificate), key }, place, { now, notAfter });
  return { 'tls.crt': leaf.certificate, 'tls.key': leaf.key };
}

/** Valid from one hour ago, so that machines with a slow clock accept it. */
function newAuthority({ name }: Place, now: Date): Promise<Issued> {
  const generation = `${now.toISOString().slice(0, 10)}-${randomBytes(4).toString('hex')}`;
  return issueAuthority(`${name}-${generation}`.slice(-64), {
    notBefore: new Date(now.getTime() - hourMs),
    notAfter: new Date(now.getTime() + authorityDays * dayMs),
  });
}

function newLeaf(
  authority: Issued,
  { service, namespace }: Place,
  { now, notAfter }: { readonly now: Date; readonly notAfter: Date },
): Promise<Issued> {
  const host = `${service}.${namespace}`;
  const dns = [`${host}.svc`, host, `${host}.svc.cluster.local`];
  return issueLeaf(authority, { dns }, { notBefore: new Date(now.getTime() - hourMs), notAfter });
}

function annotationsFor(name: string, phase: Phase, now: Date): Record<string, string> {
  return { [phaseAnnotation(name)]: phase, [sinceAnnotation(name)]: now.toISOString() };
}

function encoded(files: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(files).map(([name, text]) => [name, Buffer.from(text).toString('base64')]));
}
