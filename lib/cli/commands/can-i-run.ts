import { readFile } from 'node:fs/promises';
import { parseAllDocuments } from 'yaml';
import type { ExitCode, Outcome } from '../framework/command.ts';
import { CommandError } from '../framework/errors.ts';
import { whyUnreachable } from '../unreachable.ts';
import type { CanIInput } from './can-i.ts';

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

/** Where freeze-check answers. */
interface Service {
  readonly url: string;
  readonly token: string;
}

export async function run({ options, environment }: CanIInput): Promise<Outcome> {
  const { namespace, kind, action, name = '', at = '', filename } = options;
  const { FREEZE_API_URL = 'http://127.0.0.1:8080/freeze-check', FREEZE_API_TOKEN: token = '' } = environment;
  const url = `${(options['api-url'] ?? FREEZE_API_URL).replace(/\/+$/, '')}/v1/evaluate`;
  const question = { namespace, kind, action, name, at };
  const answer = await (filename === undefined
    ? ask({ url, token }, question)
    : askAsIf({ url, token }, { ...question, policies: await manifestsIn(filename) }));
  if (answer.allow === undefined) {
    throw unanswered(answer.error ?? `${url} gave no answer`);
  }
  return { code: exitCodeOf(answer), text: sentence(answer), data: answer };
}

/** A pipeline must not take "no answer" for "denied". */
function unanswered(message: string, cause?: unknown): CommandError {
  return new CommandError(2, message, { cause });
}

/** A yes that labels may turn into a no is no answer to a pipeline. */
function exitCodeOf({ allow, undetermined = [] }: Answer): ExitCode {
  if (allow !== true) {
    return 1;
  }
  return undetermined.length === 0 ? 0 : 2;
}

function ask({ url, token }: Service, question: Readonly<Record<string, string>>): Promise<Answer> {
  const given = Object.entries(question).filter(([, value]) => value !== '');
  return answerOf({ url: `${url}?${new URLSearchParams(given).toString()}`, token }, {});
}

function askAsIf(service: Service, question: object): Promise<Answer> {
  return answerOf(service, { method: 'POST', body: JSON.stringify(question) });
}

async function answerOf({ url, token }: Service, request: RequestInit): Promise<Answer> {
  const headers = {
    ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
  };
  const response = await reach(url, { ...request, headers, signal: AbortSignal.timeout(10_000) });
  try {
    return (await response.json()) as Answer;
  } catch (error) {
    const what = `${response.status} ${response.statusText}`.trim();
    throw unanswered(`${url} is not freeze-check: it answered ${what} without JSON; give --api-url`, error);
  }
}

async function reach(url: string, request: RequestInit): Promise<Response> {
  try {
    return await fetch(url, request);
  } catch (error) {
    const place = url.replace(/\?.*$/, '');
    const fix = 'start it with npm start, or give --api-url';
    throw unanswered(`could not reach ${place}: ${whyUnreachable(error)}; ${fix}`, error);
  }
}

async function manifestsIn(filename: string): Promise<readonly unknown[]> {
  const text = await readFile(filename, 'utf8').catch((error: unknown) => {
    throw unanswered(`could not read ${filename}: ${(error as Error).message}`, error);
  });
  const documents = parseAllDocuments(text);
  const [error] = documents.flatMap(({ errors }) => errors);
  if (error !== undefined) {
    throw unanswered(`could not read ${filename}: ${error.message}`, error);
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
