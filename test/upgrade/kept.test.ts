import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { sumsFile, sumsOf, versions } from './kept.ts';

describe('what a version left', () => {
  it('is there from the first version on', () => {
    expect(versions()).toContain('0.1.0');
  });

  it.each(versions())('%s is as it was written: nobody edits the files of a released version', (version) => {
    expect(sumsOf(version)).toBe(readFileSync(sumsFile(version), 'utf8'));
  });
});
