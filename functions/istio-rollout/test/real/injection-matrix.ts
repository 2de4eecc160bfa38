import type { Template, Workload, WorkloadKind } from '../../../../test/real/support/workloads.ts';

/** The revisions and tags that the matrix speaks of. */
export const old = '1-28';
export const recent = '1-29';
export const tag = 'prod';

type Labels = Readonly<Record<string, string>>;

/** What a Namespace can say about injection. */
export const namespaceLabels: Readonly<Record<string, Labels>> = {
  plain: {},
  enabled: { 'istio-injection': 'enabled' },
  disabled: { 'istio-injection': 'disabled' },
  'rev-old': { 'istio.io/rev': old },
  'rev-recent': { 'istio.io/rev': recent },
  'rev-tag': { 'istio.io/rev': tag },
  'rev-unknown': { 'istio.io/rev': 'nowhere' },
  both: { 'istio-injection': 'enabled', 'istio.io/rev': recent },
};

const proxy = { name: 'istio-proxy', image: 'auto' };
const app = { name: 'app', image: 'example.com/app:1' };

/** What a pod template can say about it. */
const templates: Readonly<Record<string, Template>> = {
  silent: {},
  yes: { labels: { 'sidecar.istio.io/inject': 'true' } },
  no: { labels: { 'sidecar.istio.io/inject': 'false' } },
  'no-by-annotation': { annotations: { 'sidecar.istio.io/inject': 'false' } },
  'asks-old': { labels: { 'istio.io/rev': old } },
  'asks-recent': { labels: { 'istio.io/rev': recent } },
  'asks-tag': { labels: { 'istio.io/rev': tag } },
  'yes-asks-recent': { labels: { 'sidecar.istio.io/inject': 'true', 'istio.io/rev': recent } },
  'host-network': { spec: { hostNetwork: true, containers: [app] } },
  gateway: {
    labels: { 'sidecar.istio.io/inject': 'true' },
    annotations: { 'inject.istio.io/templates': 'gateway' },
    spec: { containers: [proxy] },
  },
  'custom-proxy': { spec: { containers: [app, { ...proxy, image: 'example.com/own/proxyv2:7' }] } },
};

const kinds: readonly WorkloadKind[] = ['Deployment', 'StatefulSet', 'DaemonSet'];

/** Every combination, one workload each. Those of different kinds share their name. */
export const combinations: readonly Workload[] = Object.keys(namespaceLabels).flatMap((namespace) =>
  Object.entries(templates).flatMap(([name, template]) => kinds.map((kind) => ({ kind, namespace, name, template }))),
);
