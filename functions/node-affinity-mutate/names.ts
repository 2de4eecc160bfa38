/** The function, its ConfigMaps and its webhook carry this name. */
export const functionName = 'node-affinity-mutate';

const domain = `${functionName}.kube-reflex.dev`;

/** `"true"` as annotation or label of a pod, or as annotation of a namespace: leave it alone. */
export const skipMark = `${domain}/skip`;
/** Annotation of a namespace: the pool that its pods prefer, in place of what the rules say. */
export const poolMark = `${domain}/pool`;
/** Annotation of a pod: what was done to it. */
export const appliedMark = `${domain}/applied`;

export const webhookName = `mpod.${domain}`;

/** What operators write. */
export const rulesConfigMap = functionName;
export const rulesKey = 'rules.yaml';
/** What the function knows, for its replicas and for people. */
export const stateConfigMap = `${functionName}-state`;

/** The kubelet marks its static pods so; their spec must not be touched. */
export const mirrorAnnotation = 'kubernetes.io/config.mirror';

/** The MutatingAdmissionPolicy and its binding. */
export const policyName = domain;
