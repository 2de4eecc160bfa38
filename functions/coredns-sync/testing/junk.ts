/** Pieces of names, and of everything that must never reach a configuration. */
const pieces = [
  ...['a', 'api', 'example', 'com', 'xn--bcher-kva', '1', '10.0.0.1', 'svc.cluster.local', 'x'.repeat(63), '*', '*.'],
  ...[
    '.',
    '.',
    '.',
    '.',
    '-',
    '--',
    '_',
    ' ',
    '\t',
    '\n',
    '\r\n',
    '\u0000',
    '\u007f',
    '\u0085',
    '\u00a0',
    '\u2028',
    '\ufeff',
  ],
  ...['#', '"', "'", '\\', '`', ';', ',', '|', '&', '<', '>', '?', '!', '@', '%', '$', '^', '+', '=', '~', '/', ':'],
  ...[
    '(',
    ')',
    '[',
    ']',
    '{',
    '}',
    '{$HOME}',
    '{%PATH%}',
    '{{',
    '}}',
    '{{ .Name }}',
    '$(id)',
    '%0a',
    '%2e',
    '\\n',
    '\\.',
  ],
  ...['ü', 'ß', 'İ', 'ſ', '١', '１', '。', '．', '／', '＃', '\u200d', '\u00ad', '\ud800', '💥', 'א', 'e\u0301'],
  ...[
    '\n}\n. {\n  erratic\n}\n',
    '\nforward . 192.0.2.1',
    ' import /etc/passwd',
    '(?=',
    '\\1',
    '.*',
    '}\nexample.org {',
  ],
];

/** The same text for the same seed: names, broken names and attempts at an injection. */
export function junkHost(seed: number): string {
  let state = Math.imul(seed + 1, 0x9e3779b1);
  function next(below: number): number {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d);
    state ^= state >>> 12;
    return (state >>> 0) % below;
  }
  const glue = next(3) === 0 ? '' : '.';
  let text = next(4) === 0 ? `h${seed}` : (pieces[next(pieces.length)] ?? '');
  for (let left = next(7); left > 0; left -= 1) {
    text += glue + (pieces[next(pieces.length)] ?? '');
  }
  return text;
}
