/** `cluster`: everywhere; `own`: the namespace of the function. */
export type Scope = 'cluster' | 'own' | { readonly namespaces: readonly string[] };

export interface Permission {
  readonly groups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  /** Only objects of these names; `create` and `list` can't be limited so. */
  readonly names?: readonly string[];
  readonly scope: Scope;
  /** Which workload needs it. Default: both. */
  readonly role?: 'events' | 'admission';
}

/** The namespaces that a right is for; `undefined` stands for the whole cluster. */
export function placesOf(scope: Scope, own: string): readonly (string | undefined)[] {
  if (scope === 'cluster') {
    return [undefined];
  }
  return scope === 'own' ? [own] : scope.namespaces;
}
