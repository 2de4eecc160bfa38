import type { V1LabelSelector } from '@kubernetes/client-node';
import type { ConfigMap, MutatingWebhookConfiguration } from '../../../lib/kube/model/resource.ts';
import type { Wire } from '../../../lib/kube/model/wire.ts';

type LabelSelector = Wire<V1LabelSelector>;
type Webhook = NonNullable<MutatingWebhookConfiguration['webhooks']>[number];
type Expression = NonNullable<LabelSelector['matchExpressions']>[number];

const istioNamespace = 'istio-system';
const revisionLabel = 'istio.io/rev';
const injection = 'istio-injection';
const inject = 'sidecar.istio.io/inject';

/** A revision as its injector ConfigMap describes it. */
export interface Release {
  readonly revision: string;
  readonly tag: string;
  readonly hub?: string;
}

/** The ConfigMap that istiod reads its templates and values from. */
export function injectorConfigMap({ revision, tag, hub = 'docker.io/istio' }: Release): ConfigMap {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: `istio-sidecar-injector${suffix(revision)}`,
      namespace: istioNamespace,
      labels: { [revisionLabel]: revision },
    },
    data: {
      config: 'policy: enabled\n',
      values: JSON.stringify({ revision: revision === 'default' ? '' : revision, global: { hub, tag } }),
    },
  };
}

/** The webhooks of a revision, with the selectors of Istio's own chart. */
export function revisionWebhooks(
  revision: string,
  clientConfig: Webhook['clientConfig'],
): MutatingWebhookConfiguration {
  return configuration(`istio-sidecar-injector${suffix(revision)}`, { [revisionLabel]: revision }, [
    ...webhooksFor(revision, clientConfig),
    ...(revision === 'default' ? defaultWebhooks(clientConfig) : []),
  ]);
}

/** The webhooks of a revision tag. The tag `default` also serves namespaces with `istio-injection=enabled`. */
export function tagWebhooks(
  { tag, revision }: { readonly tag: string; readonly revision: string },
  clientConfig: Webhook['clientConfig'],
): MutatingWebhookConfiguration {
  return configuration(`istio-revision-tag-${tag}`, { 'istio.io/tag': tag, [revisionLabel]: revision }, [
    ...webhooksFor(tag, clientConfig),
    ...(tag === 'default' ? defaultWebhooks(clientConfig) : []),
  ]);
}

function suffix(revision: string): string {
  return revision === 'default' ? '' : `-${revision}`;
}

/** For namespaces labelled with the name, and for pods labelled with it where the namespace says nothing. */
function webhooksFor(name: string, clientConfig: Webhook['clientConfig']): Webhook[] {
  return [
    webhook('rev.namespace', clientConfig, {
      namespaces: [isOneOf(revisionLabel, name), isAbsent(injection)],
      pods: [isNoneOf(inject, 'false')],
    }),
    webhook('rev.object', clientConfig, {
      namespaces: [isAbsent(revisionLabel), isAbsent(injection)],
      pods: [isNoneOf(inject, 'false'), isOneOf(revisionLabel, name)],
    }),
  ];
}

function defaultWebhooks(clientConfig: Webhook['clientConfig']): Webhook[] {
  return [
    webhook('namespace', clientConfig, {
      namespaces: [isOneOf(injection, 'enabled')],
      pods: [isNoneOf(inject, 'false')],
    }),
    webhook('object', clientConfig, {
      namespaces: [isAbsent(injection), isAbsent(revisionLabel)],
      pods: [isOneOf(inject, 'true'), isAbsent(revisionLabel)],
    }),
  ];
}

interface Selectors {
  readonly namespaces: readonly Expression[];
  readonly pods: readonly Expression[];
}

function webhook(prefix: string, clientConfig: Webhook['clientConfig'], { namespaces, pods }: Selectors): Webhook {
  return {
    name: `${prefix}.sidecar-injector.istio.io`,
    clientConfig,
    rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
    namespaceSelector: { matchExpressions: [...namespaces] },
    objectSelector: { matchExpressions: [...pods] },
    failurePolicy: 'Fail',
    reinvocationPolicy: 'Never',
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  };
}

function configuration(
  name: string,
  labels: Readonly<Record<string, string>>,
  webhooks: readonly Webhook[],
): MutatingWebhookConfiguration {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name, labels },
    webhooks: [...webhooks],
  };
}

function isOneOf(key: string, value: string): Expression {
  return { key, operator: 'In', values: [value] };
}

function isNoneOf(key: string, value: string): Expression {
  return { key, operator: 'NotIn', values: [value] };
}

function isAbsent(key: string): Expression {
  return { key, operator: 'DoesNotExist' };
}
