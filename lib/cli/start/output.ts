import { pino, type Logger } from 'pino';
import { createLog } from '../../base/log.ts';
import { intro, type Scene } from './intro.ts';
import { layOut, type Page } from './layout.ts';
import { createLive, type Entry } from './live.ts';

export interface OutputOptions {
  readonly stdout: Pick<NodeJS.WriteStream, 'isTTY' | 'columns' | 'write'>;
  readonly colour: boolean;
  /** The level that somebody asked for: everything of that level is shown. */
  readonly level: string | undefined;
}

/** What `npm start` prints. */
export interface Output {
  readonly log: Logger;
  /** Says what runs where; what was logged before follows. */
  readonly introduce: (scene: Scene) => void;
  /** Prints what waits for an introduction that will not come. */
  readonly flush: () => void;
}

/** Lines for people on a terminal, otherwise JSON lines. */
export function openOutput({ stdout, colour, level }: OutputOptions): Output {
  return stdout.isTTY ? openTerminal({ stdout, colour, level }) : openJsonLines(level);
}

function openJsonLines(level: string | undefined): Output {
  return { log: createLog({ level: level ?? 'info', readable: false }), introduce: nothing, flush: nothing };
}

function nothing(): void {
  // JSON lines need no words around them
}

function openTerminal({ stdout, colour, level }: OutputOptions): Output {
  const live = createLive({ details: level !== undefined });
  const waiting: Entry[] = [];
  let functions: readonly string[] | undefined;

  function page(): Page {
    const columns = stdout.columns === 0 ? undefined : stdout.columns; // 0: a terminal that does not know its width
    return { columns, colour, functions: functions ?? [] };
  }

  function write(json: string): void {
    const entry = live(json);
    if (entry !== undefined && functions === undefined) {
      waiting.push(entry);
    } else if (entry !== undefined) {
      stdout.write(layOut(entry, page()));
    }
  }

  function flush(): void {
    functions ??= [];
    for (const entry of waiting.splice(0)) {
      stdout.write(layOut(entry, page()));
    }
  }

  const timestamp = pino.stdTimeFunctions.isoTime;
  const formatters = { level: (label: string) => ({ level: label }) };
  return {
    log: pino({ level: level ?? 'debug', base: {}, timestamp, formatters }, { write }),
    introduce: (scene) => {
      functions = scene.found.map(({ definition }) => definition.name);
      stdout.write(intro(scene, page()));
      flush();
    },
    flush,
  };
}
