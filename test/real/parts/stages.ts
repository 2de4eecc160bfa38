/**
 * What KWOK does to nodes and pods in place of kubelets. Pods obey the same annotations as in the sandbox, so that a
 * scenario reads alike on both.
 */
const readyAnnotation = '.metadata.annotations["sandbox.kube-reflex.dev/ready"]';
const readyAfterAnnotation = '.metadata.annotations["sandbox.kube-reflex.dev/ready-after"]';
const ready = '.status.conditions.[] | select( .type == "Ready" ) | .status';

const alive = { key: '.metadata.deletionTimestamp', operator: 'DoesNotExist' };
const deleted = { key: '.metadata.deletionTimestamp', operator: 'Exists' };

const nodeReady = `
{{ $now := Now }}
conditions:
{{ range NodeConditions }}
- type: {{ .type | Quote }}
  status: {{ .status | Quote }}
  reason: {{ .reason | Quote }}
  message: {{ .message | Quote }}
  lastHeartbeatTime: {{ $now | Quote }}
  lastTransitionTime: {{ $now | Quote }}
{{ end }}
phase: Running
`;

function podStatus(isReady: boolean): string {
  return `
{{ $now := Now }}
phase: Running
conditions:
- { type: Initialized, status: "True", lastTransitionTime: {{ $now | Quote }} }
- { type: ContainersReady, status: "${isReady ? 'True' : 'False'}", lastTransitionTime: {{ $now | Quote }} }
- { type: Ready, status: "${isReady ? 'True' : 'False'}", lastTransitionTime: {{ $now | Quote }} }
containerStatuses:
{{ range .spec.containers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  ready: ${String(isReady)}
  restartCount: 0
  state: { running: { startedAt: {{ $now | Quote }} } }
{{ end }}
`;
}

/** Once only: a second address would make the pod invalid. */
const podAddress = `
{{ with PodIPsWith .spec.nodeName ( or .spec.hostNetwork false ) ( or .metadata.uid "" ) ( or .metadata.name "" ) ( or .metadata.namespace "" ) }}
podIP: {{ index . 0 | Quote }}
podIPs:
{{ range . }}
- ip: {{ . | Quote }}
{{ end }}
{{ end }}
`;

const podDone = `
{{ $now := Now }}
phase: Succeeded
containerStatuses:
{{ range .spec.containers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  ready: false
  restartCount: 0
  state: { terminated: { exitCode: 0, reason: Completed, startedAt: {{ $now | Quote }}, finishedAt: {{ $now | Quote }} } }
{{ end }}
`;

const stages = [
  stage('node-ready', 'Node', {
    selector: select({ key: ready, operator: 'NotIn', values: ['True'] }),
    next: { statusTemplate: nodeReady },
  }),
  stage('pod-running', 'Pod', {
    selector: select(alive, { key: '.status.phase', operator: 'In', values: ['Pending'] }),
    next: { statusTemplate: `${podStatus(false)}startTime: {{ Now | Quote }}\n${podAddress}` },
  }),
  stage('pod-ready', 'Pod', {
    selector: select(
      alive,
      { key: '.status.phase', operator: 'In', values: ['Running'] },
      { key: ready, operator: 'In', values: ['False'] },
      { key: readyAnnotation, operator: 'NotIn', values: ['never'] },
    ),
    delay: { durationMilliseconds: 0, durationFrom: { expressionFrom: readyAfterAnnotation } },
    next: { statusTemplate: podStatus(true) },
  }),
  stage('pod-done', 'Pod', {
    selector: select(
      alive,
      { key: ready, operator: 'In', values: ['True'] },
      { key: '.status.phase', operator: 'In', values: ['Running'] },
      { key: '.metadata.ownerReferences.[].kind', operator: 'In', values: ['Job'] },
    ),
    next: { statusTemplate: podDone },
  }),
  stage('pod-gone', 'Pod', { selector: select(deleted), next: { delete: true } }),
];

/** The configuration file of KWOK: a stream of YAML documents, each of them JSON. */
export const stagesText = stages.map((document) => JSON.stringify(document)).join('\n---\n');

function stage(name: string, kind: string, spec: object): object {
  return {
    apiVersion: 'kwok.x-k8s.io/v1alpha1',
    kind: 'Stage',
    metadata: { name },
    spec: { resourceRef: { apiGroup: 'v1', kind }, ...spec },
  };
}

function select(...matchExpressions: object[]): object {
  return { matchExpressions };
}
