import { expect, it } from '@jest/globals';
import { compilePattern } from './pattern.ts';

it.each([
  ['^(?i)(abort|warn)?$', 'Abort', true],
  ['^(?i)(abort|warn)?$', 'abortion', false],
  ['^(abort|warn)?$', 'Abort', false],
  ['(?i)a|b$', 'xB', true],
  ['^(?i)a|b', 'xB', true],
])('%s takes %s: %p', (pattern, text, taken) => {
  expect(compilePattern(pattern).test(text)).toBe(taken);
});
