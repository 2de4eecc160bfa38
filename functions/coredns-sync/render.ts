import { groupRules, patternOf } from './render-pattern.ts';
import { renderTemplates } from './render-template.ts';
import { inOrder, type Rule } from './rule.ts';

/** How rules become CoreDNS configuration. */
export const renderModes = ['exact', 'grouped', 'template'] as const;
export type RenderMode = (typeof renderModes)[number];

/** Part of what a text's hash stands for: an older renderer leaves the work of a newer one alone. */
export const rendererVersion = 1;

export interface RenderOptions {
  readonly mode: RenderMode;
  /** The key of the text in its ConfigMap, and so the name of the file that CoreDNS imports. */
  readonly key: string;
}

/** The keys of one ConfigMap with their texts: what CoreDNS imports, and the data that it refers to. */
export type Files = Readonly<Record<string, string>>;

/** Lines of constant number, since CoreDNS reloads when a line moves. No time, no count: equal rules give equal bytes. */
const header =
  '# Kept by coredns-sync (kube-reflex.dev): hosts of this cluster and where they lead.\n# Edits are undone.\n';

/**
 * The files of one shard. Where rules are spread over several shards, all wildcards must be in the one that CoreDNS imports
 * last (`shardKey` 0), since the first rule that matches wins.
 */
export function renderRules(rules: readonly Rule[], { mode, key }: RenderOptions): Files {
  const text = lines[mode](rules)
    .map((line) => `${line}\n`)
    .join('');
  return { [key]: `${header}${text}` };
}

/** `dynamic.server`, `dynamic-1.server`, …: since `-` sorts before `.`, shard 0 is imported last. */
export function shardKey(key: string, shard: number): string {
  const dot = key.lastIndexOf('.');
  const [stem, extension] = dot < 0 ? [key, ''] : [key.slice(0, dot), key.slice(dot)];
  return shard === 0 ? key : `${stem}-${shard}${extension}`;
}

const lines: Readonly<Record<RenderMode, (rules: readonly Rule[]) => readonly string[]>> = {
  exact: (rules) => rules.toSorted(inOrder).map(renderExact),
  grouped: (rules) => groupRules(rules).map(({ pattern, target }) => renderRegex(pattern, target)),
  template: renderTemplates,
};

function renderExact(rule: Rule): string {
  return rule.match === 'exact'
    ? `rewrite name exact ${rule.host} ${rule.target}`
    : renderRegex(patternOf(rule), rule.target);
}

function renderRegex(pattern: string, target: string): string {
  return `rewrite name regex ${pattern} ${target} answer auto`;
}
