import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { classify } from './change.ts';
import { createClearing } from './clearing.ts';
import { decide, headline, type Question } from './decide.ts';
import { actions, type ChangeFreezeSpec, type MaintenanceWindowSpec } from './policy.ts';
import { readFreeze, readMaintenanceWindow, type Rule } from './rule.ts';

const now = Date.parse('2026-12-25T12:00:00Z');
const target = { kinds: ['Deployment'] } as const;
const rules = { deny: actions };

function freeze(name: string, startTime: string, endTime: string, spec: Partial<ChangeFreezeSpec> = {}): Rule {
  return readFreeze({ metadata: { name }, spec: { startTime, endTime, target, rules, ...spec } });
}

function windows(name: string, schedule: string, duration: string): Rule {
  const spec: MaintenanceWindowSpec = {
    timezone: 'Europe/Berlin',
    mode: 'DenyOutsideWindows',
    windows: [{ name: 'w', schedule, duration }],
    target,
    rules,
  };
  return readMaintenanceWindow({ metadata: { name }, spec });
}

const question: Question = {
  change: { kind: 'Deployment', actions: ['ROLL_OUT'], labels: {} },
  namespaceLabels: {},
  user: 'dev@x',
  groups: [],
  now,
};

describe('a decision', () => {
  it('denies exactly what some matching policy denies now, and clears when none does', () => {
    const instant = fc
      .integer({ min: 0, max: 20 })
      .map((days) => new Date(now + (days - 10) * 86_400_000).toISOString());
    const freezes = fc.array(fc.tuple(instant, instant), { maxLength: 6 });

    fc.assert(
      fc.property(freezes, (spans) => {
        const read = spans.map(([from, to], index) => freeze(`f${index}`, from, to));
        const { objections } = decide(question, { rules: read, exceptions: [] }, 0);
        const clear = createClearing()(read, now);
        function isDenied(at: number): boolean {
          return spans.some(([from, to]) => Date.parse(from) <= at && at < Date.parse(to));
        }

        expect(objections.length > 0).toBe(isDenied(now));
        expect(clear !== undefined && !isDenied(clear)).toBe(true);
        expect(clear === now || isDenied((clear ?? now) - 1)).toBe(true);
      }),
    );
  });

  it('gives up on policies that take turns for ever', () => {
    const never = [windows('early', '0 1 * * *', '6h'), windows('late', '0 13 * * *', '6h')];

    expect(createClearing()(never, now)).toBeUndefined();
  });

  it('names of two with one name and one end the freeze', () => {
    const night = windows('same', '0 1 * * *', '6h');
    const both = [night, freeze('same', '2026-12-24T00:00:00Z', '2026-12-26T00:00:00Z')];

    const { objections } = decide(question, { rules: both, exceptions: [] }, 0);

    expect(headline(question.change, objections)?.objection.rule.kind).toBe('ChangeFreeze');
  });

  it('FC-78 costs the same whether windows open daily or every three minutes', () => {
    const kinds = ['0 1 * * *', '*/3 1-6 * * *'].map((schedule) => ({
      rules: Array.from({ length: 300 }, (_, index) => windows(`w${index}`, schedule, '3m')),
      exceptions: [],
    }));

    /** The best of many rounds in turns: what interrupts one round does not count. */
    const best = [Infinity, Infinity];
    for (let round = 0; round < 60; round += 1) {
      for (const [index, policies] of kinds.entries()) {
        const started = performance.now();
        const { objections } = decide({ ...question, now: now + round }, policies, 0);
        best[index] = Math.min(best[index] ?? Infinity, performance.now() - started);
        expect(objections).toHaveLength(300);
      }
    }
    const [daily = 0, dense = Infinity] = best;

    expect(dense / daily).toBeLessThan(3);
    expect(dense).toBeLessThan(6);
  });
});

describe('a review', () => {
  it('of any shape is a change, foreign or malformed, and nothing breaks', () => {
    const anything = fc.record({
      uid: fc.constant('u'),
      kind: fc.constantFrom(
        { group: 'apps', version: 'v1', kind: 'Deployment' },
        { group: 'batch', version: 'v1', kind: 'CronJob' },
      ),
      resource: fc.constant({ group: 'apps', version: 'v1', resource: 'deployments' }),
      operation: fc.constantFrom('CREATE', 'UPDATE', 'DELETE', 'CONNECT', 'OTHER'),
      userInfo: fc.constant({}),
      object: fc.jsonValue(),
      oldObject: fc.jsonValue(),
      options: fc.constant(null),
    });

    fc.assert(
      fc.property(anything, (request) => {
        const { is } = classify(request as Parameters<typeof classify>[0]);

        // A workload never turns into something that nobody judges.
        expect(['change', 'noop', 'malformed']).toContain(is);
      }),
    );
  });
});
