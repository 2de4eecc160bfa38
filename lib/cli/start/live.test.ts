import { describe, expect, it } from '@jest/globals';
import { layOut } from './layout.ts';
import { createLive } from './live.ts';

const handled = {
  msg: 'handled',
  level: 'info',
  time: '2026-01-01T10:20:30.400Z',
  function: 'host-census',
  calls: 3,
  ms: 12,
};
const tick = { ...handled, type: 'dev.knative.sources.ping' };

/** What a person sees of these records. */
function shown(records: readonly object[], { details = false, columns = 200 } = {}): string {
  const live = createLive({ details });
  const entries = records.flatMap((record) => live(JSON.stringify(record)) ?? []);
  return entries.map((entry) => layOut(entry, { columns, colour: false, functions: ['host-census'] })).join('');
}

describe('a live line', () => {
  it.each([
    [
      'an event and what was written, each object once',
      {
        ...handled,
        change: 'add',
        kind: 'Ingress',
        namespace: 'shop',
        name: 'web',
        steps: ['patch ConfigMap a/b', 'patch ConfigMap a/b'],
      },
      '10:20:30   host-census  Ingress shop/web added → patch ConfigMap a/b (12 ms, 3 API calls)\n',
    ],
    [
      'what admission did',
      { ...handled, level: 'debug', msg: 'admitted', kind: 'Pod', namespace: 'a', name: 'b', did: 'gave it c' },
      '10:20:30   host-census  Pod a/b created → gave it c\n',
    ],
    [
      'a warning with its fields',
      { level: 'warn', time: handled.time, msg: 'failed', kind: 'Pod', name: 'b', reason: 'no way', found: { A: 1 } },
      '10:20:30 !              failed Pod b reason="no way" found="A: 1"\n',
    ],
    [
      'a condition with what to do',
      { ...handled, level: 'error', msg: 'condition', condition: 'Wrong', messages: ['a', 'b'], action: 'correct it' },
      '10:20:30 ✗ host-census  Wrong: a; b → correct it\n',
    ],
    ['no event that led to nothing', { ...handled, change: 'delete', kind: 'Namespace', name: 'shop', steps: [] }, ''],
    ['no step, which the line of its event names', { ...handled, msg: 'step' }, ''],
    ['no detail', { ...handled, level: 'debug', msg: 'ignored' }, ''],
  ])('shows %s', (_what, record, line) => {
    expect(shown([record])).toBe(line);
  });

  it('shows the first tick of a function, and later ones only if they changed something', () => {
    const state = { ...tick, steps: ['patch ConfigMap kube-reflex/host-census-state'] };
    const repair = { ...tick, steps: [...state.steps, 'patch ConfigMap a/b'] };

    expect(shown([state, tick, state, repair])).toBe(
      [
        '10:20:30   host-census  first tick → wrote its state (12 ms, 3 API calls)',
        '10:20:30   host-census  tick → patch ConfigMap a/b, its state (12 ms, 3 API calls)',
        '',
      ].join('\n'),
    );
  });

  it('shows an event only if it changed more than the state of the function', () => {
    const event = { ...handled, change: 'add', kind: 'Namespace', name: 'shop' };

    expect(shown([{ ...event, steps: ['create ConfigMap kube-reflex/host-census-state'] }])).toBe('');
  });

  it('shows a table whole the first time, then the rows that changed', () => {
    const table = ['2 queued', 'WORKLOAD  STATE', 'a         Queued', 'b         Queued'].join('\n');
    const later = ['1 queued', 'WORKLOAD  STATE', 'a         Restarted', 'b         Queued'].join('\n');
    const record = { level: 'info', time: handled.time, function: 'host-census' };

    expect(shown([table, later].map((text) => ({ ...record, msg: `\n${text}` })))).toBe(
      [
        '10:20:30   host-census  2 queued',
        '                        WORKLOAD  STATE',
        '                        a         Queued',
        '                        b         Queued',
        '10:20:30   host-census  1 queued',
        '                        a         Restarted',
        '',
      ].join('\n'),
    );
  });

  it('shows everything when details are asked for', () => {
    const event = { ...handled, change: 'delete', kind: 'Namespace', name: 'shop', steps: [] };
    const state = { ...tick, steps: ['patch ConfigMap kube-reflex/host-census-state'] };

    expect(shown([event, tick, state], { details: true })).toBe(
      [
        '10:20:30   host-census  Namespace shop deleted → nothing to do (12 ms, 3 API calls)',
        '10:20:30   host-census  first tick → nothing to do (12 ms, 3 API calls)',
        '10:20:30   host-census  tick → patch ConfigMap kube-reflex/host-census-state (12 ms, 3 API calls)',
        '',
      ].join('\n'),
    );
  });

  it('goes on in the next line where the terminal ends, and loses nothing', () => {
    const record = {
      level: 'info',
      time: handled.time,
      function: 'host-census',
      msg: 'one two three four five',
      six: 6,
    };

    expect(shown([record], { columns: 40 })).toBe(
      ['10:20:30   host-census  one two three', '             four five six=6', ''].join('\n'),
    );
    expect(shown([{ ...record, msg: 'x'.repeat(60) }], { columns: 40 })).toContain('x'.repeat(60));
  });
});
