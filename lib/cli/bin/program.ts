import { version } from '../../base/version.ts';
import { canI } from '../commands/can-i.ts';
import { completion } from '../commands/completion.ts';
import { doctor } from '../commands/doctor.ts';
import { manifests } from '../commands/manifests.ts';
import { newFunction } from '../commands/new.ts';
import { release } from '../commands/release.ts';
import { start } from '../start/command.ts';
import type { Program } from '../framework/command.ts';

/** Every command, in the order in which somebody meets them. */
export const program: Program = {
  name: 'kube-reflex',
  version,
  summary: 'functions that react to what happens in a Kubernetes cluster',
  commands: [start, newFunction, manifests, doctor, release, canI, completion],
};
