import type { Permission } from '../../function/permissions.ts';

/** Exactly what the reads and steps need: a missing verb shows with `npm start` and in `npm test`. */
export function permissions(): readonly Permission[] {
  return [{ groups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'patch'], scope: 'own' }];
}
