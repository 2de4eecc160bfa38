import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { parseAllDocuments } from 'yaml';

const usage = `usage: npm run can-i -- -n NAMESPACE -k KIND -a ACTION [--name NAME] [--at TIME] [-f FILE] [--api-url URL] [--json]
  asks freeze-check whether a change would pass: exit code 0 allowed, 1 denied, 2 the question could not be answered
  KIND      Deployment, StatefulSet, DaemonSet or CronJob
  ACTION    CREATE, DELETE, ROLL_OUT or SCALE
  --name    a workload whose labels count
  --at      another time, such as 2026-12-24T10:00:00Z
  -f        policies that are not applied yet: the answer is as if they were
  --api-url where freeze-check answers (default: FREEZE_API_URL, else http://127.0.0.1:8080/freeze-check)
  The token of FREEZE_API_TOKEN is sent where there is one.`;

interface Answer {
  readonly allow?: boolean;
  readonly reason?: string;
  readonly matchedPolicy?: string;
  readonly policyKind?: string;
  readonly nextAllowedTime?: string;
  readonly clearAt?: string;
  readonly undetermined?: readonly { readonly kind: string; readonly name: string }[];
  readonly error?: string;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      namespace: { type: 'string', short: 'n', default: '' },
      kind: { type: 'string', short: 'k', default: '' },
      action: { type: 'string', short: 'a', default: '' },
      name: { type: 'string', default: '' },
      at: { type: 'string', default: '' },
      filename: { type: 'string', short: 'f' },
      'api-url': { type: 'string', default: process.env['FREEZE_API_URL'] ?? 'http://127.0.0.1:8080/freeze-check' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const { namespace, kind, action, name, at, json, filename, 'api-url': url } = values;
  const question = { namespace, kind, action, name, at };
  const answer = await (filename === undefined
    ? ask(url, question)
    : askAsIf(url, { ...question, policies: await manifestsIn(filename) }));
  if (answer.allow === undefined) {
    throw new Error(answer.error ?? `${url} gave no answer`);
  }
  console.log(json ? JSON.stringify(answer) : sentence(answer));
  return exitCodeOf(answer);
}

/** A yes that labels may turn into a no is no answer to a pipeline. */
function exitCodeOf({ allow, undetermined = [] }: Answer): number {
  if (allow !== true) {
    return 1;
  }
  return undetermined.length === 0 ? 0 : 2;
}

function ask(url: string, question: Readonly<Record<string, string>>): Promise<Answer> {
  const given = Object.entries(question).filter(([, value]) => value !== '');
  return answerOf(`${endpointOf(url)}?${new URLSearchParams(given).toString()}`, {});
}

function askAsIf(url: string, question: object): Promise<Answer> {
  return answerOf(endpointOf(url), { method: 'POST', body: JSON.stringify(question) });
}

function endpointOf(url: string): string {
  return `${url.replace(/\/+$/, '')}/v1/evaluate`;
}

async function answerOf(url: string, request: RequestInit): Promise<Answer> {
  const token = process.env['FREEZE_API_TOKEN'] ?? '';
  const response = await fetch(url, {
    ...request,
    headers: {
      ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
    },
    signal: AbortSignal.timeout(10_000),
  });
  return (await response.json()) as Answer;
}

async function manifestsIn(filename: string): Promise<readonly unknown[]> {
  const documents = parseAllDocuments(await readFile(filename, 'utf8'));
  const [error] = documents.flatMap(({ errors }) => errors);
  if (error !== undefined) {
    throw new Error(`${filename}: ${error.message}`, { cause: error });
  }
  return documents.map((document) => document.toJS() as unknown).filter((manifest) => manifest !== null);
}

function sentence({
  allow,
  reason = '',
  matchedPolicy = '',
  policyKind = '',
  nextAllowedTime,
  clearAt,
  undetermined = [],
}: Answer): string {
  if (allow === true) {
    const unknown = undetermined.map(({ kind, name }) => `${kind}/${name}`).join(', ');
    return unknown === '' ? 'yes' : `unknown: it depends on the labels of the workload for ${unknown}; give its --name`;
  }
  const next = nextAllowedTime === undefined ? '' : `; next allowed at ${nextAllowedTime}`;
  const clear = clearAt === undefined || clearAt === nextAllowedTime ? '' : `; all policies clear at ${clearAt}`;
  return `no: ${policyKind}/${matchedPolicy}: ${reason}${next}${clear}`;
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(`can-i: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 2;
}
