/** A ConfigMap asks to be annotated by this label with the value `true`. */
export const watchLabel = 'function-name.kube-reflex.dev/watch';

/** The annotation that lists the keys. */
export const keysAnnotation = 'function-name.kube-reflex.dev/keys';
