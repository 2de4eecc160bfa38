/** An Ingress with this annotation set to `true` is refused. */
export const refuseAnnotation = 'host-census.kube-reflex.dev/refuse';

/** An event of this type makes the function count again. */
export const recountType = 'dev.kube-reflex.host-census.recount';
