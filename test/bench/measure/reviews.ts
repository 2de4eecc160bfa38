/** A review of a new pod as an API server sends it, about so many bytes long. */
export function podReview({ bytes, rich }: { readonly bytes: number; readonly rich: boolean }): string {
  const review = reviewWith('', rich);
  const missing = Math.max(0, bytes - JSON.stringify(review).length);
  return JSON.stringify(reviewWith('x'.repeat(missing), rich));
}

const affinity = {
  podAntiAffinity: {
    preferredDuringSchedulingIgnoredDuringExecution: [
      {
        weight: 100,
        podAffinityTerm: { labelSelector: { matchLabels: { app: 'shop' } }, topologyKey: 'kubernetes.io/hostname' },
      },
    ],
  },
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: ['a', 'b'].map((zone) => ({
        matchExpressions: [{ key: 'zone', operator: 'In', values: [zone] }],
      })),
    },
    preferredDuringSchedulingIgnoredDuringExecution: [1, 50, 100].map((weight) => ({
      weight,
      preference: { matchExpressions: [{ key: 'disk', operator: 'In', values: [`kind-${weight}`] }] },
    })),
  },
};

/** The padding is spread over environment variables, as the bulk of real pods is. */
function reviewWith(padding: string, rich: boolean): object {
  const variables = padding.match(/.{1,60}/g) ?? [];
  return {
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: {
      uid: '705ab4f5-6393-11e8-b7cc-42010a800002',
      kind: { group: '', version: 'v1', kind: 'Pod' },
      resource: { group: '', version: 'v1', resource: 'pods' },
      namespace: 'shop',
      operation: 'CREATE',
      userInfo: {
        username: 'system:serviceaccount:kube-system:replicaset-controller',
        groups: ['system:authenticated'],
      },
      object: {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { generateName: 'shop-', labels: { app: 'shop' }, annotations: { note: 'bench' } },
        spec: {
          ...(rich ? { affinity } : {}),
          containers: [
            {
              name: 'shop',
              image: 'registry.example.com/shop:1.2.3',
              env: variables.map((value, index) => ({
                name: `VARIABLE_${index}`,
                value: value.slice(0, Math.max(1, value.length - 38)),
              })),
              resources: { requests: { cpu: '100m', memory: '128Mi' } },
            },
          ],
          tolerations: [
            { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
          ],
        },
      },
      oldObject: null,
      dryRun: false,
      options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' },
    },
  };
}
