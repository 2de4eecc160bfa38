import { describe, expect, it } from '@jest/globals';
import { ApiError } from '../model/status.ts';
import { managerOf, parseDeleteOptions, parseWriteOptions } from './write-options.ts';

function causes(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error instanceof ApiError ? error.refusal.details?.causes?.map(({ field }) => field) : error;
  }
}

function write(query: string, isApply = false): unknown {
  return causes(() => parseWriteOptions(new URLSearchParams(query), 'PatchOptions', { isApply, userAgent: 'curl/8' }));
}

describe('options of a write', () => {
  it('take the manager from the query or from the user agent', () => {
    expect(write('')).toMatchObject({ manager: 'curl', dryRun: false, force: false, fieldValidation: 'Warn' });
    expect(write('fieldManager=me&dryRun=All')).toMatchObject({ manager: 'me', dryRun: true });
    expect(managerOf('kubectl/v1.32.4 (linux/amd64)')).toBe('kubectl');
  });

  it('describe a patch to webhooks as an update', () => {
    expect(write('fieldManager=me&force=true', true)).toMatchObject({
      force: true,
      asObject: { kind: 'UpdateOptions', apiVersion: 'meta.k8s.io/v1', fieldManager: 'me' },
    });
  });

  it.each([
    ['dryRun=Some', false, ['dryRun']],
    ['fieldValidation=Maybe', false, ['fieldValidation']],
    ['force=true', false, ['force']],
    ['', true, ['fieldManager']],
    [`fieldManager=${'x'.repeat(129)}`, false, ['fieldManager']],
    ['fieldManager=a%00', false, ['fieldManager']],
  ])('refuse %s (apply: %p)', (query, isApply, fields) => {
    expect(write(query, isApply)).toEqual(fields);
  });
});

describe('options of a delete', () => {
  it('come from the body or from the query', () => {
    const body = { kind: 'DeleteOptions', gracePeriodSeconds: 0, preconditions: { uid: 'u', resourceVersion: '3' } };

    expect(parseDeleteOptions(new URLSearchParams(), body)).toMatchObject({
      gracePeriodSeconds: 0,
      uid: 'u',
      resourceVersion: '3',
    });
    expect(parseDeleteOptions(new URLSearchParams('propagationPolicy=Orphan&dryRun=All'), undefined)).toMatchObject({
      propagationPolicy: 'Orphan',
      dryRun: true,
    });
    expect(parseDeleteOptions(new URLSearchParams('orphanDependents=false'), undefined)).toMatchObject({
      propagationPolicy: 'Background',
    });
  });

  it.each([
    [{ propagationPolicy: 'Sideways' }, ['propagationPolicy']],
    [{ propagationPolicy: 'Orphan', orphanDependents: true }, ['propagationPolicy']],
    [{ gracePeriodSeconds: 'soon' }, ['gracePeriodSeconds']],
    [{ dryRun: ['Some'] }, ['dryRun']],
  ])('refuse %j', (body, fields) => {
    expect(causes(() => parseDeleteOptions(new URLSearchParams(), body))).toEqual(fields);
  });
});
