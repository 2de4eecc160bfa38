import { parseArgs } from 'node:util';

const usage = `usage: npm run can-i -- -n NAMESPACE -k KIND -a ACTION [--name NAME] [--at TIME] [--api-url URL] [--json]
  asks freeze-check whether a change would pass: exit code 0 allowed, 1 denied, 2 the question could not be answered
  KIND      Deployment, StatefulSet, DaemonSet or CronJob
  ACTION    CREATE, DELETE, ROLL_OUT or SCALE
  --name    a workload whose labels count
  --at      another time, such as 2026-12-24T10:00:00Z
  --api-url where freeze-check answers (default: FREEZE_API_URL, else http://127.0.0.1:8080/freeze-check)
  The token of FREEZE_API_TOKEN is sent where there is one.`;

interface Answer {
  readonly allow?: boolean;
  readonly reason?: string;
  readonly matchedPolicy?: string;
  readonly policyKind?: string;
  readonly nextAllowedTime?: string;
  readonly clearAt?: string;
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
      'api-url': { type: 'string', default: process.env['FREEZE_API_URL'] ?? 'http://127.0.0.1:8080/freeze-check' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const { namespace, kind, action, name, at, json, 'api-url': url } = values;
  const answer = await ask(url, { namespace, kind, action, name, at });
  if (answer.allow === undefined) {
    throw new Error(answer.error ?? `${url} gave no answer`);
  }
  console.log(json ? JSON.stringify(answer) : sentence(answer));
  return answer.allow ? 0 : 1;
}

async function ask(url: string, question: Readonly<Record<string, string>>): Promise<Answer> {
  const given = Object.entries(question).filter(([, value]) => value !== '');
  const token = process.env['FREEZE_API_TOKEN'] ?? '';
  const response = await fetch(`${url.replace(/\/+$/, '')}/v1/evaluate?${new URLSearchParams(given).toString()}`, {
    headers: token === '' ? {} : { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(10_000),
  });
  return (await response.json()) as Answer;
}

function sentence({
  allow,
  reason = '',
  matchedPolicy = '',
  policyKind = '',
  nextAllowedTime,
  clearAt,
}: Answer): string {
  if (allow === true) {
    return 'yes';
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
