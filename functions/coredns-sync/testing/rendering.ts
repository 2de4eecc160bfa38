import type { Rendering, RenderMode } from '../render/render.ts';

interface Place {
  readonly directory?: string;
  readonly addresses?: Readonly<Record<string, readonly string[]>>;
  readonly passesOtherTypes?: boolean;
  readonly port?: string;
  readonly lines?: readonly string[];
  readonly taken?: readonly string[];
  readonly inside?: readonly string[];
}

/** A mode with something for all that it may need. */
export function renderingOf(mode: RenderMode, place: Place = {}): Rendering {
  const { directory = '/etc/rules', addresses = {}, passesOtherTypes = true } = place;
  const { port = '', lines = ['forward . /etc/resolv.conf'], taken = [], inside = [] } = place;
  switch (mode) {
    case 'hosts':
      return { mode, directory, addresses, passesOtherTypes };
    case 'zone':
      return { mode, directory };
    case 'zoneblocks':
      return { mode, frame: { port, lines, taken, inside } };
    case 'exact':
    case 'grouped':
    case 'template':
      return { mode };
  }
}
