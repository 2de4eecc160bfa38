import type { Definition } from '../function/definition.ts';
import type { Site } from '../function/names.ts';
import type { Subscription } from './branch.ts';

/** The watches and ticks of a function with these settings; the caller adds where its events go. */
export function subscriptionOf<C>(
  { name, on, tick }: Definition<C>,
  config: C,
  site: Site,
): Omit<Subscription, 'sink'> {
  const triggers = on?.(config, site) ?? [];
  return {
    name,
    watches: triggers
      .filter((trigger) => 'resource' in trigger)
      .map(({ handle: _handle, key: _key, ...watch }) => watch),
    tick: tick?.schedule,
  };
}
