const tokens = /\s*([=!<>]+|[(),]|[^\s=!<>(),]+)/y;
const operators = new Set(['=', '==', '!=', '<', '>', 'in', 'notin']);
const name = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const nameRule =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character " +
  "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const valueRule =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end " +
  "with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is " +
  "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

/** What the API server says about a label selector that it cannot read. */
export function selectorProblem(text: string): string {
  const words = wordsOf(text);
  const [key = '', operator = '', ...rest] = words[0] === '!' ? words.slice(1) : words;
  if (!name.test(key.slice(key.lastIndexOf('/') + 1))) {
    return `unable to parse requirement: <nil>: Invalid value: ${JSON.stringify(key)}: ${nameRule}`;
  }
  if (!operators.has(operator)) {
    return `unable to parse requirement: found '${operator}', expected: in, notin, =, ==, !=, gt, lt`;
  }
  return valueProblem(key, operator, rest);
}

function valueProblem(key: string, operator: string, [value = '', next]: readonly string[]): string {
  const isSet = operator.endsWith('in');
  if (isSet && value !== '(') {
    return `unable to parse requirement: found '${value}' expected: '('`;
  }
  return isSet || next === undefined || next === ','
    ? `unable to parse requirement: values[0][${key}]: Invalid value: ${JSON.stringify(value)}: ${valueRule}`
    : `found '${next}', expected: ',' or 'end of string'`;
}

function wordsOf(text: string): readonly string[] {
  tokens.lastIndex = 0;
  const words: string[] = [];
  for (let match = tokens.exec(text); match !== null; match = tokens.exec(text)) {
    words.push(match[1] ?? '');
  }
  return words;
}
