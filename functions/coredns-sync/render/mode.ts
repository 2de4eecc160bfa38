import type { RenderMode } from './render.ts';

/** What decides how rules are rendered. */
export interface ModeQuestion {
  readonly setting: 'auto' | RenderMode;
  readonly hosts: number;
  readonly wildcards: boolean;
  /** `EXACT_MAX_HOSTS`: up to here one line for each host is as good as any other form. */
  readonly exactMaxHosts: number;
  /** Of CoreDNS, as `1.14.7`; undefined when nobody knows. */
  readonly version?: string | undefined;
  /** A block that must answer can't resolve the targets by itself. */
  readonly redispatch: boolean;
  /** ConfigMaps that the rules are spread over. */
  readonly shards: number;
  /** CoreDNS finds files of ours where we say. */
  readonly mounted: boolean;
  /** Plugins that somebody else uses, or may use, in a block that must answer. */
  readonly occupied: readonly string[];
  /** A Service behind a target has addresses that we know. */
  readonly addressed: boolean;
  /** CoreDNS imports blocks of ours. */
  readonly blocks: boolean;
}

export interface ModeChoice {
  readonly mode: RenderMode;
  /** Why the setting could not be honoured. */
  readonly why?: string;
}

/** `answer auto`, without which the answer to a matched pattern has the wrong name. */
const answerAuto = '1.8.4';
/** `fallthrough` of `file`, without which it would deny every name but our hosts. */
const fileFallthrough = '1.12.2';
/** `fallthrough_unsupported` of `hosts`. */
const hostsOtherTypes = '1.14.7';

/** Modes whose rules can't be spread over several ConfigMaps. */
const lone: readonly RenderMode[] = ['hosts', 'zone', 'zoneblocks'];

/** `template` works on every version and in every block; the others where they are known to work. */
export function chooseMode({ setting, ...question }: ModeQuestion): ModeChoice {
  const auto = question.hosts > question.exactMaxHosts ? 'grouped' : 'exact';
  const wanted = setting === 'auto' ? auto : setting;
  const obstacle = obstacles[wanted](question) ?? (lone.includes(wanted) ? obstacleToFiles(question) : undefined);
  if (obstacle === undefined) {
    return { mode: wanted };
  }
  return { mode: 'template', ...(setting === 'auto' ? {} : { why: `RENDER_MODE=${setting}: ${obstacle}` }) };
}

/** May rules of this mode be spread over several ConfigMaps? */
export function isSpreadable(mode: RenderMode): boolean {
  return !lone.includes(mode);
}

/** Does `hosts` of this version pass on questions for anything but addresses, when told to? */
export function passesOtherTypes(version: string | undefined): boolean {
  return version !== undefined && isAtLeast(version, hostsOtherTypes);
}

type Question = Omit<ModeQuestion, 'setting'>;

const obstacles: Readonly<Record<RenderMode, (question: Question) => string | undefined>> = {
  exact: (question) => obstacleToRewriting(question) ?? (question.wildcards ? obstacleToPatterns(question) : undefined),
  grouped: (question) => obstacleToRewriting(question) ?? obstacleToPatterns(question),
  template: () => undefined,
  hosts: ({ occupied, addressed }) => {
    if (occupied.includes('hosts')) {
      return 'a server block, or a file that it imports and that we can not see, has a hosts plugin, and can have only one';
    }
    return addressed ? undefined : 'no target is a Service with a ClusterIP that we may read';
  },
  zone: ({ occupied, version }) =>
    occupied.includes('file')
      ? 'a server block, or a file that it imports and that we can not see, has a file plugin: it would pass on what it denies'
      : obstacleOfAge(version, fileFallthrough, 'a zone that passes on other names needs'),
  zoneblocks: ({ blocks }) =>
    blocks
      ? undefined
      : 'the Corefile does not import our blocks yet, imports files that we can not see, or has no plain forward',
};

function obstacleToRewriting({ redispatch }: Question): string | undefined {
  return redispatch ? 'a server block that must answer can not resolve the targets by itself' : undefined;
}

function obstacleToPatterns({ version }: Question): string | undefined {
  return obstacleOfAge(version, answerAuto, 'patterns need');
}

function obstacleToFiles({ shards, mounted }: Question): string | undefined {
  if (!mounted) {
    return 'CoreDNS does not mount our ConfigMap at MOUNT_PATH yet, or gets the rules in another way';
  }
  return shards > 1 ? 'the rules are still spread over several ConfigMaps' : undefined;
}

function obstacleOfAge(version: string | undefined, least: string, needs: string): string | undefined {
  return version !== undefined && isAtLeast(version, least)
    ? undefined
    : `${needs} CoreDNS ${least}, this is ${version ?? 'an unknown version'}`;
}

function isAtLeast(version: string, least: string): boolean {
  const [have, want] = [version, least].map((text) => text.split('.').map(Number)) as [number[], number[]];
  const index = want.findIndex((part, place) => part !== have[place]);
  return index < 0 || (have[index] ?? 0) > (want[index] ?? 0);
}
