const domain = 'istio-rollout.kube-reflex.dev';

/** Where people say what they want: on a workload or its Namespace; the workload wins. */
export const wishes = {
  policy: `${domain}/policy`,
  window: `${domain}/window`,
  priority: `${domain}/priority`,
  fieldManager: `${domain}/field-manager`,
} as const;

/** What a restart leaves on the workload itself. */
export const bookkeeping = {
  run: `${domain}/run`,
  fingerprint: `${domain}/last-fp`,
  attempts: `${domain}/attempts`,
} as const;

/** Commands: annotations of the state ConfigMap, so that only who may write there can give them. */
export const commands = {
  /** `all`, or namespaces separated by commas. */
  scan: `${domain}/scan`,
  /** Any value: goes on after a pause. */
  resume: `${domain}/resume`,
} as const;

/** Restarts by others count for the cooldown as well. */
export const foreignRestartAnnotations = ['fortsa.scaffidi.net/restartedAt', 'kubectl.kubernetes.io/restartedAt'];

export const stateName = 'istio-rollout-state';
export const configName = 'istio-rollout-config';
export const statusName = 'istio-rollout-status';

/** A queue that the state cannot hold goes on here. */
export const queueNames: readonly string[] = Array.from({ length: 8 }, (_, index) => `istio-rollout-queue-${index}`);

export function isOwnAnnotation(name: string): boolean {
  return name.startsWith(`${domain}/`);
}
