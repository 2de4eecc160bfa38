import type { Context } from '../../../lib/function/definition.ts';
import { configMaps, type ConfigMap } from '../../../lib/kube/model/resource.ts';
import { annotationOf, ownerLabels } from './annotation.ts';
import type { Config } from '../config.ts';
import type { DnsFacts } from '../integration/types.ts';
import { writeConfigMap } from '../../../lib/kube/model/config-map.ts';
import { mostShards } from '../settings/writing.ts';
import type { ReloadWatch } from '../reload/reload.ts';

/** What outlives a process and belongs to no single host. Losing it costs a full pass. */
export interface State {
  readonly layout: Layout;
  readonly conditions: Conditions;
  /** What was seen of CoreDNS when it was last looked at. */
  readonly facts: DnsFacts | undefined;
  /** Digest of all that was looked at then; undefined while CoreDNS lacks something, so that every event looks again. */
  readonly seen: string | undefined;
  /** Instances that have answered for events whose rules are not written yet, with the server's time. */
  readonly owed: Readonly<Record<string, string>>;
  /** A removal of many hosts that waits for a second pass to agree. */
  readonly removal: { readonly digest: string; readonly at: string } | undefined;
  /** When parts of the integration were repaired within the last hour. */
  readonly heals: Readonly<Record<string, readonly string[]>>;
  /** Digests of what was last done to each part of the integration. */
  readonly placed: Readonly<Record<string, string>>;
  readonly summary: Summary;
  /** With VERIFY_RELOAD: how CoreDNS takes the rules. */
  readonly reload: ReloadWatch | undefined;
  readonly preview: Preview | undefined;
  readonly preflight: unknown;
  readonly cleanup: unknown;
}

/** How many ConfigMaps the rules and the index of objects are spread over. */
export interface Layout {
  readonly shards: number;
  readonly buckets: number;
  /** The same as they were before, while a change is under way: what may still exist. */
  readonly before?: { readonly shards: number; readonly buckets: number };
}

/** By type: a message for people. What is not listed is not the case. */
export type Conditions = Readonly<Record<string, string>>;

/** Nothing may be written while this holds; only a full pass finds out whether it still does. */
export function blocked(conditions: Conditions): boolean {
  return 'RolledBack' in conditions || obstructed(conditions);
}

/** What may go by itself, so that events are a reason to look again; refused rules change with objects alone. */
export function obstructed(conditions: Conditions): boolean {
  return ['Conflict', 'InvalidRender', 'NewerRelease'].some((type) => type in conditions);
}

/** What people want to see at a glance, as of the last full pass. */
export interface Summary {
  readonly hosts: number;
  readonly losing: number;
  readonly refused: number;
  /** Hosts with rivals, the first of them: `host: winner > loser`. */
  readonly contested: readonly string[];
}

/** With RENDER_ONLY: how the preview differs from the rules. */
export interface Preview {
  readonly adds: { readonly count: number; readonly hosts: readonly string[] };
  readonly removes: Preview['adds'];
}

/** A preview has its own: where its rules are says nothing of where those of CoreDNS are. */
export function stateName({ RENDER_ONLY }: Pick<Config, 'RENDER_ONLY'>): string {
  return RENDER_ONLY ? 'coredns-sync-state-preview' : 'coredns-sync-state';
}

const schema = '1';

const empty: State = {
  layout: { shards: 1, buckets: 1 },
  conditions: {},
  facts: undefined,
  seen: undefined,
  owed: {},
  removal: undefined,
  heals: {},
  placed: {},
  summary: { hosts: 0, losing: 0, refused: 0, contested: [] },
  reload: undefined,
  preview: undefined,
  preflight: undefined,
  cleanup: undefined,
};

type Stating = Pick<Context<Config>, 'kube' | 'namespace' | 'config'>;

/** The state as it was read, with what a write needs. */
export interface ReadState extends State {
  readonly object: ConfigMap | undefined;
  /** There is one that this release understands, and it says where rules are: others may have begun one anew. */
  readonly known: boolean;
  /** Somebody whom RBAC lets do so asked for everything to be removed. */
  readonly cleaning: boolean;
}

export async function readState({ kube, namespace, config }: Stating): Promise<ReadState> {
  return parseState(await kube.get(configMaps, { namespace, name: stateName(config) }));
}

export function parseState(object: ConfigMap | undefined): ReadState {
  const data = object?.data ?? {};
  const keys = data['schema'] === schema ? Object.keys(empty) : [];
  const found = Object.fromEntries(keys.flatMap((key) => parsed(key, data[key]))) as Partial<State>;
  const cleaning = annotationOf(object, 'cleanup') === 'requested';
  const known = isLayout(found.layout);
  const layout = isLayout(found.layout) ? found.layout : empty.layout;
  return { ...empty, ...found, layout, object, known, cleaning };
}

/** Whoever edits the state by hand may leave anything behind. */
function isLayout(layout: Layout | undefined): layout is Layout {
  return Number.isInteger(layout?.shards) && Number.isInteger(layout?.buckets);
}

/** A part that does not parse is one that was never written. */
function parsed(key: string, text: string | undefined): readonly [string, unknown][] {
  try {
    const value: unknown = text === undefined ? null : JSON.parse(text);
    return value === null ? [] : [[key, value]];
  } catch {
    return [];
  }
}

/** Where rules and records may be. Without a state that says so, rules may be wherever they ever could. */
export function reachOf({ layout, known }: ReadState): Pick<Layout, 'shards' | 'buckets'> {
  return {
    shards: known ? Math.max(layout.shards, layout.before?.shards ?? 0) : mostShards,
    buckets: Math.max(layout.buckets, layout.before?.buckets ?? 0),
  };
}

/** Writes the parts that differ, and nothing when none does. Fails when anybody wrote since the state was read. */
export async function writeState(
  { kube, namespace, config }: Stating,
  read: ReadState,
  changes: Partial<State>,
): Promise<void> {
  const parts = differing(read, changes);
  if (parts.length === 0 && read.known) {
    return;
  }
  const data = Object.fromEntries(parts.map(([key, value]) => [key, format(value)]));
  const content = {
    namespace,
    name: stateName(config),
    data: { schema, ...data },
    labels: ownerLabels(config.INSTANCE),
    annotations: {},
  };
  const step = writeConfigMap(read.object, content, Object.keys(data).join(', ') || 'first');
  await kube.run({ steps: step === undefined ? [] : [step] });
}

/** A layout that nobody has written yet differs from all, even from the one that is taken for granted without it. */
export function differing(read: ReadState, changes: Partial<State>): readonly (readonly [string, unknown])[] {
  return Object.entries(changes).filter(
    ([key, value]) => (key === 'layout' && !read.known) || format(value) !== format(read[key as keyof State]),
  );
}

function format(value: unknown): string {
  return `${JSON.stringify(value ?? null, undefined, 1)}\n`;
}
