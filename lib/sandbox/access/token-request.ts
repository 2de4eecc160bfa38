import type { KubeObject } from '../../kube/model/wire.ts';
import { timestamp } from '../model/clock.ts';
import { type ApiError, invalid, notFound } from '../model/status.ts';
import type { Tokens } from './tokens.ts';

interface TokenRequest extends KubeObject {
  readonly spec?: { readonly audiences?: readonly string[]; readonly expirationSeconds?: number };
}

const shortestSeconds = 600;

/** Answers a post to a ServiceAccount's `token`. `account` is what is stored under the name, if anything. */
export function answerTokenRequest(
  sent: KubeObject,
  account: KubeObject | undefined,
  { name, tokens }: { readonly name: string; readonly tokens: Tokens },
): KubeObject {
  const { audiences = [], expirationSeconds = 3600 } = (sent as TokenRequest).spec ?? {};
  if (expirationSeconds < shortestSeconds) {
    throw tooShort(expirationSeconds);
  }
  if (account === undefined) {
    throw notFound({ group: '', plural: 'serviceaccounts', name });
  }
  const { namespace = '', uid = '', creationTimestamp = '' } = account.metadata ?? {};
  const issued = tokens.issue({ namespace, name, uid }, { expirationSeconds, audiences });
  return {
    kind: 'TokenRequest',
    apiVersion: 'authentication.k8s.io/v1',
    metadata: { name, namespace, uid, creationTimestamp },
    ...{
      spec: { audiences: issued.audiences, expirationSeconds, boundObjectRef: null },
      status: { token: issued.token, expirationTimestamp: timestamp(issued.expiresAt) },
    },
  };
}

function tooShort(seconds: number): ApiError {
  const message = `Invalid value: ${seconds}: may not specify a duration less than 10 minutes`;
  return invalid({ group: 'authentication.k8s.io', kind: 'TokenRequest' }, '', [
    { reason: 'FieldValueInvalid', message, field: 'spec.expirationSeconds' },
  ]);
}
