/** A rule for a name: answers what is wrong with it, in the API server's words. */
export type NameRule = (name: string) => readonly string[];

const dnsLabel = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const dnsSubdomain = `${dnsLabel}(\\.${dnsLabel})*`;
const dns1035Label = '[a-z]([-a-z0-9]*[a-z0-9])?';
const qualified = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';

interface Shape {
  readonly pattern: string;
  readonly text: string;
  readonly examples: readonly string[];
}

function matches({ pattern, text, examples }: Shape): NameRule {
  const expression = new RegExp(`^(?:${pattern})$`);
  const shown = examples.map((example) => `'${example}'`).join(',  or ');
  const problem = `${text} (e.g. ${shown}, regex used for validation is '${pattern}')`;
  return (name) => (expression.test(name) ? [] : [problem]);
}

function shorterThan(limit: number, unit: 'bytes' | 'characters'): NameRule {
  return (name) => (Buffer.byteLength(name) > limit ? [`must be no more than ${limit} ${unit}`] : []);
}

function all(...rules: readonly NameRule[]): NameRule {
  return (name) => rules.flatMap((rule) => rule(name));
}

export const subdomain = all(
  shorterThan(253, 'characters'),
  matches({
    pattern: dnsSubdomain,
    text: "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
    examples: ['example.com'],
  }),
);

export const label = all(
  shorterThan(63, 'characters'),
  matches({
    pattern: dnsLabel,
    text: "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
    examples: ['my-name', '123-abc'],
  }),
);

/** A label where the API server distinguishes dots from other mistakes. */
export function labelWithoutDots(name: string): readonly string[] {
  return name.includes('.') ? ['must not contain dots'] : label(name);
}

export const label1035 = all(
  shorterThan(63, 'characters'),
  matches({
    pattern: dns1035Label,
    text: "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
    examples: ['my-name', 'abc-123'],
  }),
);

export const wildcardSubdomain = all(
  shorterThan(253, 'characters'),
  matches({
    pattern: `\\*\\.${dnsSubdomain}`,
    text: "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
    examples: ['*.example.com'],
  }),
);

export const labelValue = all(
  shorterThan(63, 'bytes'),
  matches({
    pattern: `(${qualified})?`,
    text: "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
    examples: ['MyValue', 'my_value', '12345'],
  }),
);

const qualifiedText =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const namePart = all(
  (name) => (name === '' ? ['must be non-empty'] : []),
  shorterThan(63, 'bytes'),
  matches({ pattern: qualified, text: qualifiedText, examples: ['MyName', 'my.name', '123-abc'] }),
);

/** `name` or `prefix.example/name`: keys of labels and annotations. */
export function qualifiedName(name: string): readonly string[] {
  const parts = name.split('/');
  const [first = '', second] = parts;
  if (parts.length > 2) {
    const [problem] = namePart('/');
    const suffix = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
    return [`a valid label key ${problem ?? ''} ${suffix}`];
  }
  if (second === undefined) {
    return namePart(first).map((problem) => `name part ${problem}`);
  }
  const prefix = first === '' ? ['must be non-empty'] : subdomain(first);
  return [
    ...prefix.map((problem) => `prefix part ${problem}`),
    ...namePart(second).map((problem) => `name part ${problem}`),
  ];
}

/** Names that only need to be one part of a path. */
export function pathSegment(name: string): readonly string[] {
  if (name === '.' || name === '..') {
    return [`may not be '${name}'`];
  }
  return ['/', '%']
    .filter((character) => name.includes(character))
    .map((character) => `may not contain '${character}'`);
}

const keyPattern = matches({
  pattern: '[-._a-zA-Z0-9]+',
  text: "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
  examples: ['key.name', 'KEY_NAME', 'key-name'],
});

/** Keys of ConfigMaps and Secrets, which become file names. */
export function configKey(key: string): readonly string[] {
  const length = shorterThan(253, 'characters')(key);
  if (key === '.' || key === '..') {
    return [...length, `must not be '${key}'`];
  }
  return [...length, ...keyPattern(key), ...(key.startsWith('..') ? ["must not start with '..'"] : [])];
}

/** Names of ports: IANA service names. */
export function portName(name: string): readonly string[] {
  if (name.length > 15) {
    return ['must be no more than 15 characters'];
  }
  return [
    ...(/^[-a-z0-9]+$/.test(name) ? [] : ['must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)']),
    ...(/[a-z]/.test(name) ? [] : ['must contain at least one letter (a-z)']),
    ...(name.includes('--') ? ['must not contain consecutive hyphens'] : []),
    ...(/^-|-$/.test(name) ? ['must not begin or end with a hyphen'] : []),
  ];
}

export function environmentName(name: string): readonly string[] {
  return /^[ -<>-~]+$/.test(name)
    ? []
    : ["a valid environment variable name must consist only of printable ASCII characters other than '='"];
}

const percentPattern = matches({
  pattern: '[0-9]+%',
  text: "a valid percent string must be a numeric string followed by an ending '%'",
  examples: ['1%', '93%'],
});

export const percent: NameRule = percentPattern;
