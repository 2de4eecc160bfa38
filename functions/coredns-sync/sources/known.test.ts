import { describe, expect, it } from '@jest/globals';
import type { Claim } from '../claim.ts';
import { recordOf } from '../state/record.ts';
import { inPlaceOf, knownFrom } from './known.ts';
import type { Wanted } from './wanted.ts';

const source = 'Ingress/shop/web';

function claim(host: string, priority = 0): Claim {
  return { host, match: 'exact', source, mapping: 0, priority, created: 1 };
}

function wanted(claims: readonly Claim[]): Wanted {
  return {
    source,
    about: { metadata: { name: 'web' } },
    claims,
    refused: [],
    record: recordOf(source, claims, ['uid']),
  };
}

function known(recorded: readonly Claim[], claimed: readonly Claim[] = recorded): ReturnType<typeof knownFrom> {
  return knownFrom(new Map([[source, recordOf(source, recorded, ['uid'])]]), claimed);
}

describe('what is known of a listed object', () => {
  it('stands in for what the list says, as long as both say the same', () => {
    const claims = [claim('a.example.com'), claim('b.example.com')];
    const before = known(claims);
    const found = inPlaceOf(wanted([claim('a.example.com'), claim('b.example.com')]), before);

    expect(found).toEqual({ ...wanted(claims), about: undefined });
    expect(found.claims[0]).toBe(claims[0]);
    expect(found.record).toBe(before.records.get(source));
  });

  it('costs as much as the object has hosts, not its square: one may have tens of thousands', () => {
    let reads = 0;
    function counted(index: number): Claim {
      return {
        ...claim(''),
        get host() {
          reads += 1;
          return `host-${index}.example.com`;
        },
      };
    }
    const claims = Array.from({ length: 1000 }, (_, index) => counted(index));
    const before = known(claims);
    const listed = wanted(claims.toReversed());
    const same = { ...listed, record: before.records.get(source) };
    reads = 0;

    expect(inPlaceOf(same, before).claims).toBe(before.claims.get(source));
    expect(reads).toBeLessThan(10_000);
  });

  it.each([
    ['the object has changed', known([claim('old.example.com')])],
    ['it ranks otherwise', known([claim('a.example.com', 1)])],
    ['nothing is recorded', knownFrom(new Map(), [claim('a.example.com')])],
    ['its claims are lost', known([claim('a.example.com')], [])],
    [
      'somebody died between claims and record, and the object is as it was recorded again',
      known([claim('a.example.com')], [claim('meanwhile.example.com')]),
    ],
  ])('counts for nothing when %s', (_when, before) => {
    const listed = wanted([claim('a.example.com')]);

    expect(inPlaceOf(listed, before)).toBe(listed);
  });
});
