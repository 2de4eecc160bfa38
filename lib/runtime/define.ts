import type { Definition } from '../function/definition.ts';
import { withCertificate } from '../tls/definition.ts';

/**
 * Defines a function: the default export of its `index.ts` (see `Definition` for an example). If it admits, this adds
 * what its certificate needs (`withCertificate`). `C` types `config` in the context of every handler. The result hides
 * `C`, because the runtime passes to each definition only what its own schema has parsed.
 */
export function defineFunction<C>(definition: Definition<C>): Definition {
  return withCertificate(definition) as Definition;
}
