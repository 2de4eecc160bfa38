/** What the Secret of `self` mode carries, and no other Secret does. */
export function phaseAnnotation(name: string): string {
  return `${name}.kube-reflex.dev/tls-phase`;
}

export function sinceAnnotation(name: string): string {
  return `${name}.kube-reflex.dev/tls-phase-since`;
}
