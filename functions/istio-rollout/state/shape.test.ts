import { describe, expect, it } from '@jest/globals';
import { intent, underWay } from '../testing/under-way.ts';
import { decode, encode } from './codec.ts';
import { emptyState, type State } from './state.ts';

const state: State = { ...underWay, pacing: { failed: [], lastFullScanAt: 7 } };
const { data } = encode(state);

describe('a key of a state that has not the shape of what belongs there', () => {
  it.each(['null', '7', '"x"', '[null]', '{"a":null}', '{"items":null}'])('is lost: %s', (value) => {
    for (const key of Object.keys(data)) {
      const read = decode({ data: { ...data, [key]: `{"v":1,"value":${value}}` }, parts: [] });

      expect({ [key]: read[key as keyof State] }).toMatchObject({ [key]: emptyState[key as keyof State] });
    }
  });

  it('means that what is under way has to be found, if it was that', () => {
    expect(decode({ data, parts: [] })).toMatchObject({ inflight: [intent], pacing: { lastFullScanAt: 7 } });
    expect(decode({ data: { ...data, inflight: '{"v":1,"value":null}' }, parts: [] }).pacing).toEqual({ failed: [] });
  });
});
