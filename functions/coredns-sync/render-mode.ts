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
}

export interface ModeChoice {
  readonly mode: RenderMode;
  /** Why the setting could not be honoured. */
  readonly why?: string;
}

/** `answer auto`, without which the answer to a matched pattern has the wrong name. */
const answerAuto = '1.8.4';

/** `template` works on every version and in every block; the others where they are known to work. */
export function chooseMode({ setting, ...question }: ModeQuestion): ModeChoice {
  const auto = question.hosts > question.exactMaxHosts ? 'grouped' : 'exact';
  const wanted = setting === 'auto' ? auto : setting;
  const obstacle = wanted === 'template' ? undefined : obstacleTo(wanted, question);
  if (obstacle === undefined) {
    return { mode: wanted };
  }
  return { mode: 'template', ...(setting === 'auto' ? {} : { why: `RENDER_MODE=${setting}: ${obstacle}` }) };
}

function obstacleTo(
  mode: RenderMode,
  { wildcards, version, redispatch }: Omit<ModeQuestion, 'setting'>,
): string | undefined {
  if (redispatch) {
    return 'a server block that must answer can not resolve the targets by itself';
  }
  if (mode === 'exact' && !wildcards) {
    return undefined;
  }
  return version !== undefined && isAtLeast(version, answerAuto)
    ? undefined
    : `patterns need CoreDNS ${answerAuto}, this is ${version ?? 'an unknown version'}`;
}

function isAtLeast(version: string, least: string): boolean {
  const [have, want] = [version, least].map((text) => text.split('.').map(Number)) as [number[], number[]];
  const index = want.findIndex((part, place) => part !== have[place]);
  return index < 0 || (have[index] ?? 0) > (want[index] ?? 0);
}
