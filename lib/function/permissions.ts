/** `cluster`: all namespaces; `own`: the namespace of the function. */
export type Scope = 'cluster' | 'own' | { readonly namespaces: readonly string[] };

export interface Permission {
  readonly groups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  /** Only objects with these names. RBAC never limits `create` by name; `list` and `watch` only where the
   * request asks for `fieldSelector: metadata.name=…`. */
  readonly names?: readonly string[];
  readonly scope: Scope;
  /** The role that needs it. Default: both. */
  readonly role?: 'events' | 'admission';
}

/** The namespaces of a scope; `undefined` means the whole cluster. */
export function placesOf(scope: Scope, own: string): readonly (string | undefined)[] {
  if (scope === 'cluster') {
    return [undefined];
  }
  return scope === 'own' ? [own] : scope.namespaces;
}
