import { apps } from './apps.ts';
import type { Cells } from './cell.ts';
import { core } from './core.ts';
import { policy } from './policy.ts';

/** The cells of built-in kinds beside their name and age, by `plural.group`. */
export const builtInCells: Readonly<Record<string, Cells>> = { ...core, ...apps, ...policy };
