import { describe, expect, it } from '@jest/globals';
import { parseConfig } from '../../../lib/function/config.ts';
import { Config } from '../config.ts';
import type { State } from '../state/state.ts';
import { intent, underWay } from '../testing/under-way.ts';
import { resumed } from './resume.ts';
import { settled } from './settle.ts';

function failing(state: State, config: Config): ReturnType<typeof settled> {
  return settled(state, intent, { end: { is: 'failed', why: 'it hangs' } }, { config, now: 2 });
}

describe('one failure that two instances see at once', () => {
  it('counts and is told once, and does not pause a run that may have two', () => {
    const config = parseConfig(Config, { FAILURE_THRESHOLD: '2' });

    const first = failing(underWay, config);
    const second = failing(first.state, config);

    expect(first.notices).toHaveLength(1);
    expect(second).toEqual({ state: first.state, notices: [] });
    expect(second.state.pacing).toMatchObject({ failed: [{ name: 'web' }] });
    expect(second.state.pacing.paused).toBeUndefined();
  });
});

describe('failures that never pause a run', () => {
  it('are not remembered beyond what is under way', () => {
    const { state } = failing(underWay, parseConfig(Config, { FAILURE_THRESHOLD: '0' }));

    expect(state.pacing).toMatchObject({ failed: [] });
    expect(state.inflight).toMatchObject([{ name: 'web', phase: 'Failed' }]);
  });
});

describe('a pause', () => {
  const config = parseConfig(Config, {});
  const { state: paused } = failing(underWay, config);

  it('stays while what failed has not recovered, even if an earlier one was just found to be over', () => {
    expect(resumed(paused, { config, isAsked: false })).toBe(paused);
  });

  it.each([
    { name: 'what failed has recovered', state: { ...paused, inflight: [] }, isAsked: false },
    { name: 'somebody asks for it', state: paused, isAsked: true },
  ])('ends when $name', ({ state, isAsked }) => {
    expect(resumed(state, { config, isAsked }).pacing).toEqual({ failed: [] });
  });
});
