import { describe, expect, it } from '@jest/globals';
import { openWorld, target } from './world.ts';
import { turnedClock } from '../../../lib/sandbox/test/turned-clock.ts';

describe('the status', () => {
  it.each(['event', 'tick'])(
    'CS-22 names the older of two equals as the winner, then the first by name, by %s',
    async (by) => {
      const clock = turnedClock();
      await using world = await openWorld({ MIN_WRITE_INTERVAL_MS: '0', TARGET_CNAME: target }, { clock });
      await world.ingress('z-old', ['a.example.com']);
      clock.turn(5000);
      for (const name of ['y-new', 'b-new']) {
        await world.ingress(name, ['a.example.com', 'b.example.com']);
      }
      for (const name of by === 'event' ? ['y-new', 'b-new', 'z-old'] : []) {
        expect(await world.tell('add', name)).toBe(204);
      }
      if (by === 'tick') {
        expect(await world.tick()).toBe(204);
      }

      const answer = await fetch(new URL('/status', world.app.url));
      expect(await answer.json()).toMatchObject({
        hosts: [
          { host: 'a.example.com', winner: 'Ingress/shop/z-old', losers: ['Ingress/shop/b-new', 'Ingress/shop/y-new'] },
          { host: 'b.example.com', winner: 'Ingress/shop/b-new', losers: ['Ingress/shop/y-new'] },
        ],
      });
    },
  );
});
