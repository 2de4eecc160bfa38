import { allOptions, type Command, type Option, type Positional, type Program } from './command.ts';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/** Words that are known only when the script is made. */
export interface Words {
  readonly functions: readonly string[];
}

type Value = Pick<Positional, 'choices' | 'complete'>;

/** A script that completes commands, options and values of the program, from what its commands say of themselves. */
export function completionScript(shell: Shell, program: Program, words: Words): string {
  switch (shell) {
    case 'bash':
      return bashScript(program, words);
    case 'zsh':
      return zshScript(program, words);
    case 'fish':
      return fishScript(program, words);
  }
}

function namesOf({ commands }: Program): string[] {
  return [...commands.map(({ name }) => name), 'help'];
}

/** The words to offer; none where it is up to the shell (files) or to nobody. */
function offered({ choices, complete }: Value, { functions }: Words): readonly string[] {
  const words = typeof complete === 'object' ? complete : [];
  return choices ?? (complete === 'function' ? functions : words);
}

function flagsOf(name: string, { short }: Option): string[] {
  return [`--${name}`, ...(short === undefined ? [] : [`-${short}`])];
}

function optionsOf(command: Command): (readonly [string, Option])[] {
  return Object.entries(allOptions(command));
}

function bashScript(program: Program, words: Words): string {
  const id = `_${program.name.replaceAll('-', '_')}`;
  return `# Completion for bash: source <(${program.name} completion bash)
${id}() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" command="\${COMP_WORDS[1]}" IFS=$'\\n'
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    ${bashWords([...namesOf(program), '--help', '--version'])}
    return
  fi
  case "$command $previous" in
${program.commands.flatMap((command) => bashValues(command, words)).join('\n')}
  esac
  case "$command $current" in
${program.commands.map((command) => bashOptions(command)).join('\n')}
  esac
  case "$command" in
${program.commands.flatMap((command) => bashPositionals(command, words)).join('\n')}
    help) ${bashWords(namesOf(program))} ;;
  esac
}
complete -F ${id} ${program.name}
`;
}

function bashValues(command: Command, words: Words): string[] {
  return optionsOf(command).flatMap(([name, option]) => {
    const patterns = flagsOf(name, option).map((flag) => `"${command.name} ${flag}"`);
    return option.value === undefined ? [] : [`    ${patterns.join('|')}) ${bashOffer(option, words)} return ;;`];
  });
}

function bashOptions(command: Command): string {
  const flags = optionsOf(command).map(([name]) => `--${name}`);
  return `    "${command.name} -"*) ${bashWords(flags)} return ;;`;
}

function bashPositionals({ name, positionals = [] }: Command, words: Words): string[] {
  const last = positionals.at(-1);
  return last === undefined ? [] : [`    ${name}) ${bashOffer(last, words)} ;;`];
}

function bashOffer(value: Value, words: Words): string {
  const flag = value.complete === 'file' ? '-f' : value.complete === 'folder' ? '-d' : undefined;
  if (flag !== undefined) {
    return `compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen ${flag} -- "$current"));`;
  }
  const list = offered(value, words);
  return list.length === 0 ? '' : bashWords(list);
}

function bashWords(list: readonly string[]): string {
  return `COMPREPLY=($(compgen -W $'${list.join('\\n')}' -- "$current"));`;
}

function zshScript(program: Program, words: Words): string {
  const id = `_${program.name.replaceAll('-', '_')}`;
  const names = [
    ...program.commands.map(({ name, summary }) => `${name}:${summary}`),
    'help:print what a command takes',
  ];
  return `#compdef ${program.name}
# Completion for zsh: source <(${program.name} completion zsh)
${id}() {
  if (( CURRENT == 2 )); then
    local -a commands=(${names.map(quoted).join(' ')})
    _describe command commands
    return
  fi
  local command="$words[2]"
  shift words
  (( CURRENT -= 1 ))
  case "$command" in
${program.commands.map((command) => `    ${command.name}) _arguments -s ${zshArguments(command, words).join(' ')} ;;`).join('\n')}
    help) _arguments ${quoted(`1:command:(${namesOf(program).join(' ')})`)} ;;
  esac
}
compdef ${id} ${program.name}
`;
}

function zshArguments(command: Command, words: Words): string[] {
  const options = optionsOf(command).flatMap(([name, option]) => {
    const about = option.about.replaceAll(/[[\]:]/g, (character) => `\\${character}`);
    const value = option.value === undefined ? '' : `:${option.value}:${zshAction(option, words)}`;
    const repeat = option.repeatable === true ? '*' : '';
    return flagsOf(name, option).map((flag) => quoted(`${repeat}${flag}[${about}]${value}`));
  });
  const last = command.positionals?.at(-1);
  return [...options, ...(last === undefined ? [] : [quoted(`*:${last.name}:${zshAction(last, words)}`)])];
}

function zshAction(value: Value, words: Words): string {
  if (value.complete === 'file' || value.complete === 'folder') {
    return value.complete === 'file' ? '_files' : '_files -/';
  }
  const list = offered(value, words);
  return list.length === 0 ? ' ' : `(${list.join(' ')})`;
}

function fishScript(program: Program, words: Words): string {
  const start = `complete -c ${program.name}`;
  return [
    `# Completion for fish: ${program.name} completion fish | source`,
    `${start} -f`,
    ...program.commands.map(
      ({ name, summary }) => `${start} -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`,
    ),
    `${start} -n __fish_use_subcommand -a help -d 'print what a command takes'`,
    `${start} -n '__fish_seen_subcommand_from help' -a ${quoted(namesOf(program).join(' '))}`,
    ...program.commands.flatMap((command) =>
      fishArguments(command, words).map((rest) => `${start} -n '__fish_seen_subcommand_from ${command.name}' ${rest}`),
    ),
    '',
  ].join('\n');
}

function fishArguments(command: Command, words: Words): string[] {
  const options = optionsOf(command).map(([name, option]) => {
    const short = option.short === undefined ? '' : `-s ${option.short} `;
    const value = option.value === undefined ? '' : `${fishValue(option, words)} `;
    return `${short}-l ${name} ${value}-d ${quoted(option.about)}`;
  });
  const last = command.positionals?.at(-1);
  return [...options, ...(last === undefined ? [] : [fishValue(last, words).replace(/^-[rx] ?/, '')].filter(Boolean))];
}

function fishValue(value: Value, words: Words): string {
  const list = offered(value, words);
  if (value.complete === 'file' || value.complete === 'folder') {
    return '-r -F';
  }
  return list.length === 0 ? '-x' : `-x -a ${quoted(list.join(' '))}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
