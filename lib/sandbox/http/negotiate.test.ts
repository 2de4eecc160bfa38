import { describe, expect, it } from '@jest/globals';
import { negotiate } from './negotiate.ts';

describe('negotiate', () => {
  it.each([
    [undefined, { as: 'object', isYaml: false }],
    ['', { as: 'object', isYaml: false }],
    ['*/*', { as: 'object', isYaml: false }],
    ['application/yaml', { as: 'object', isYaml: true }],
    ['application/vnd.kubernetes.protobuf, application/json', { as: 'object', isYaml: false }],
    ['application/json;as=Table;v=v1;g=meta.k8s.io,application/json', { as: 'table', isYaml: false }],
    ['application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1', { as: 'metadata', isYaml: false }],
    ['application/json;as=Strange, application/json', { as: 'object', isYaml: false }],
  ])('%s', (accept, expected) => {
    expect(negotiate(accept)).toEqual(expected);
  });

  it('refuses what it cannot write', () => {
    expect(() => negotiate('image/png')).toThrow('Not Acceptable');
  });
});
