import { apply, insertLines, type Edit } from './lines.ts';
import { CorefileError, parseCorefile, type Directive, type KnownFiles, type ServerBlock } from './parse.ts';

const begin = '# coredns-sync: rules begin (kube-reflex.dev)';
const end = '# coredns-sync: rules end (kube-reflex.dev)';

/** Keeps the rules between two comments inside each wanted block; what stands outside of them stays as it is. */
export function putInline(
  text: string,
  files: KnownFiles,
  wanted: (block: ServerBlock) => boolean,
  rules: { readonly text: string; readonly position: 'first' | 'last' },
): string {
  const bare = removeInline(text);
  const lines = [begin, ...rules.text.split('\n').filter((line) => line !== ''), end];
  const { blocks } = parseCorefile(bare, files);
  const edited = apply(
    bare,
    blocks.filter(wanted).map((block) => insertLines(bare, block, rules.position, lines)),
  );
  const after = parseCorefile(edited, files).blocks;
  const names = new Set(
    parseCorefile(`. {\n${rules.text}}\n`).blocks.flatMap(({ directives }) => directives.map(nameOf)),
  );
  const strange = after.some((block, index) => foreign(block, names) !== foreign(blocks[index], names));
  if (removeInline(edited) !== bare || after.length !== blocks.length || strange) {
    throw new CorefileError('the rules would not stand among the directives of their block');
  }
  return edited;
}

function nameOf({ name }: Directive): string {
  return name.text;
}

/** The zones of a block and those of its directives that the rules can't be. */
function foreign(block: ServerBlock | undefined, ours: ReadonlySet<string>): string {
  const { keys = [], directives = [] } = block ?? {};
  return JSON.stringify([keys.map(({ text }) => text), directives.map(nameOf).filter((name) => !ours.has(name))]);
}

/** Takes our lines out again. Comments that don't come in pairs stop everything: nobody knows what lies between them. */
export function removeInline(text: string): string {
  const cuts: Edit[] = [];
  let open: number | undefined;
  let at = 0;
  for (const line of text.split(/(?<=\n)/)) {
    const mark = line.trim();
    if ((mark === begin && open !== undefined) || (mark === end && open === undefined)) {
      throw new CorefileError(
        'the comments around our rules do not come in pairs; remove what is left of them by hand',
      );
    }
    if (mark === begin) {
      open = at;
    } else if (mark === end && open !== undefined) {
      cuts.push({ start: open, end: at + line.length, text: '' });
      open = undefined;
    }
    at += line.length;
  }
  if (open !== undefined) {
    throw new CorefileError('our rules begin but never end; remove what is left of them by hand');
  }
  return apply(text, cuts);
}

export function hasInline(text: string): boolean {
  return text.split('\n').some((line) => line.trim() === begin);
}
