/**
 * The floor plan of the repository as data: `eslint.config.js` and the suites of this folder enforce it.
 * lib/README.md and CONTRIBUTING.md describe it for people.
 */

/** A layer of `lib` imports only layers above it. Layers of one row do not know each other. */
export const rows = [
  ['base'],
  ['time'],
  ['kube'],
  ['function'],
  ['http', 'tls', 'work', 'webhook-client'],
  ['source'],
  ['runtime'],
  ['install'],
  ['sandbox'],
  ['programs'],
  ['cli'],
];

/** The sandbox is a package of its own: of the layers above it, it imports only these. */
export const sandboxImports = ['lib/base', 'lib/kube/model', 'lib/webhook-client'];

/** Functions that do not have the common shape yet. This list may only shrink. */
export const unmoved = ['coredns-sync', 'freeze-check', 'istio-rollout', 'node-affinity-mutate'];

/** The files at the root of a function; everything else is in a room. */
export const rootFiles = [
  'README.md',
  'conditions.ts',
  'config.ts',
  'index.ts',
  'metrics.ts',
  'names.ts',
  'permissions.ts',
  'samples.yaml',
];

/** The rooms of a function that may have effects. All others are pure. */
export const effectRooms = ['act', 'read', 'sandbox', 'test'];

/** Folders of `lib` that are pure as a whole. */
export const pureFolders = ['lib/time', 'lib/kube/model'];

/** The layers that a layer may not import: its own row and all rows below. */
export function forbiddenFor(layer) {
  const own = rows.findIndex((row) => row.includes(layer));
  return rows
    .slice(own)
    .flat()
    .filter((other) => other !== layer);
}
