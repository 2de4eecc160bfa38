import type { KubeObject } from '../../kube/model/wire.ts';
import type { AdmissionRequest, AdmissionResponse } from '../../kube/model/review.ts';
import { createWebhookAdmission } from '../admission/admission.ts';
import type { Webhook } from '../admission/admission-match.ts';
import type { Attributes } from '../model/attributes.ts';
import { anyKind } from './kind.ts';

export type Answer = (request: AdmissionRequest) => Partial<AdmissionResponse>;

export const configMaps = anyKind({
  plural: 'configmaps',
  kind: 'ConfigMap',
  listKind: 'ConfigMapList',
  singular: 'configmap',
});

export const object: KubeObject = { kind: 'ConfigMap', metadata: { name: 'x', namespace: 'a', labels: { app: 'x' } } };

export function rule(changes: object): NonNullable<Webhook['rules']>[number] {
  return {
    operations: ['CREATE', 'UPDATE', 'DELETE'],
    apiGroups: [''],
    apiVersions: ['v1'],
    resources: ['configmaps'],
    ...changes,
  };
}

export function webhook(name: string): Webhook {
  return {
    name: `${name}.example.com`,
    clientConfig: { url: `https://${name}/` },
    rules: [rule({})],
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
  };
}

export function add(path: string, value: unknown): Answer {
  return () => ({ patchType: 'JSONPatch', patch: encoded([{ op: 'add', path, value }]) });
}

export function encoded(patch: unknown): string {
  return Buffer.from(JSON.stringify(patch)).toString('base64');
}

export function attributes(changes: Partial<Attributes> = {}): Attributes {
  return {
    operation: 'CREATE',
    kind: configMaps,
    name: 'x',
    namespace: 'a',
    object,
    caller: { username: 'bob', groups: ['g'] },
    dryRun: false,
    options: { kind: 'CreateOptions' },
    warn: () => undefined,
    ...changes,
  };
}

interface Setup {
  readonly mutating?: Readonly<Record<string, readonly Webhook[]>>;
  readonly validating?: Readonly<Record<string, readonly Webhook[]>>;
  readonly answers?: Readonly<Record<string, Answer>>;
}

interface Admitting {
  readonly admission: ReturnType<typeof createWebhookAdmission>;
  readonly asked: { readonly url: string; readonly request: AdmissionRequest }[];
  readonly targets: object[];
  readonly warnings: string[];
}

/** Admission by webhooks that answer as configured, or allow. */
export function setUp({ mutating = {}, validating = {}, answers = {} }: Setup): Admitting {
  const asked: Admitting['asked'] = [];
  const targets: object[] = [];
  const warnings: string[] = [];
  const admission = createWebhookAdmission({
    api: {
      get: (kind, name) => stored[`${kind.plural}/${name}`],
      list: ({ plural }) =>
        Object.entries(plural.startsWith('mutating') ? mutating : validating).map(([name, webhooks]) => ({
          metadata: { name },
          ...{ webhooks },
        })),
    },
    client: {
      call(target, { request }) {
        targets.push(target);
        if (request === undefined) {
          return Promise.reject(new Error('no request'));
        }
        asked.push({ url: target.url, request });
        const answer = answers[new URL(target.url).hostname] ?? (() => ({}));
        try {
          const response = { uid: request.uid, allowed: true, ...answer(request) };
          return Promise.resolve({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response });
        } catch (error) {
          return Promise.reject(error instanceof Error ? error : new Error(String(error)));
        }
      },
      close: () => undefined,
    },
    complete: (_kind, completed) => completed,
    equivalents: (kind) => (kind.isCustom ? [{ ...kind, version: 'v1beta1' }] : []),
    evaluate(expression) {
      if (expression === 'broken') {
        throw new Error('no such key');
      }
      return expression === 'yes';
    },
  });
  return { admission, asked, targets, warnings };
}

const stored: Readonly<Record<string, KubeObject>> = {
  'namespaces/a': { metadata: { name: 'a', labels: { team: 't' } } },
  'services/hook': { metadata: { name: 'hook' } },
};
