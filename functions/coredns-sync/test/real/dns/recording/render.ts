import { hash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkFiles } from '../../../../render/check.ts';
import {
  renderRules as realRenderRules,
  type Files,
  type RenderMode,
  type RenderOptions,
} from '../../../../render/render.ts';
import type { Rule } from '../../../../rule.ts';

export * from '../../../../render/render.ts';

/** A rendering that some suite asked for and that the function would write. */
export interface Recorded {
  readonly mode: RenderMode;
  /** Of the file that CoreDNS imports, whatever its extension; the others stand beside it. */
  readonly key: string;
  readonly files: Files;
  /** Where the text says that its files are. */
  readonly directory: string | undefined;
}

/** In the place of the real one: the same, and every text that passes our own check is left in a file. */
export function renderRules(rules: readonly Rule[], options: RenderOptions): Files {
  const files = realRenderRules(rules, options);
  const { mode, key } = options;
  const recorded: Recorded = { mode, key, files, directory: 'directory' in options ? options.directory : undefined };
  const text = JSON.stringify(recorded);
  if (checkFiles(files).length === 0) {
    writeFileSync(join(process.env['RECORDED_RULES'] ?? '', `${hash('sha256', text)}.json`), text);
  }
  return files;
}
