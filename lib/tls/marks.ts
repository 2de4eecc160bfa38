/** Only the Secret of mode `self` carries this annotation. */
export function phaseAnnotation(name: string): string {
  return `${name}.kube-reflex.dev/tls-phase`;
}

export function sinceAnnotation(name: string): string {
  return `${name}.kube-reflex.dev/tls-phase-since`;
}
