import type { Definition } from '../function/definition.ts';
import { withCertificate } from '../tls/definition.ts';

/**
 * The definition, completed by what its certificate needs if it admits. `config` types the context of every handler; the
 * type of the settings is forgotten on the way out, since the runtime hands each definition only what its own schema has
 * parsed.
 */
export function defineFunction<C>(definition: Definition<C>): Definition {
  return withCertificate(definition) as Definition;
}
