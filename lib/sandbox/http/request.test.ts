import { describe, expect, it } from '@jest/globals';
import { isTrue, parseRoute } from './request.ts';

function route(method: string, address: string): unknown {
  const { pathname, searchParams } = new URL(address, 'http://sandbox');
  const found = parseRoute(method, pathname, searchParams);
  return found?.to === 'objects' ? found.request : found;
}

const core = { group: '', version: 'v1' };
const apps = { group: 'apps', version: 'v1' };

describe('parseRoute', () => {
  it.each([
    ['GET', '/api/v1/pods', { ...core, verb: 'list', plural: 'pods' }],
    ['GET', '/api/v1/pods?watch=1', { ...core, verb: 'watch', plural: 'pods' }],
    ['GET', '/api/v1/watch/pods', { ...core, verb: 'watch', plural: 'pods' }],
    ['GET', '/api/v1/namespaces/a/pods', { ...core, verb: 'list', plural: 'pods', namespace: 'a' }],
    ['GET', '/api/v1/namespaces/a/pods/b', { ...core, verb: 'get', plural: 'pods', namespace: 'a', name: 'b' }],
    ['GET', '/api/v1/namespaces', { ...core, verb: 'list', plural: 'namespaces' }],
    ['GET', '/api/v1/namespaces/a', { ...core, verb: 'get', plural: 'namespaces', name: 'a' }],
    [
      'PUT',
      '/api/v1/namespaces/a/finalize',
      { ...core, verb: 'update', plural: 'namespaces', name: 'a', subresource: 'finalize' },
    ],
    [
      'PATCH',
      '/apis/apps/v1/namespaces/a/deployments/b/scale',
      { ...apps, verb: 'patch', plural: 'deployments', namespace: 'a', name: 'b', subresource: 'scale' },
    ],
    [
      'POST',
      '/apis/apps/v1/namespaces/a/deployments',
      { ...apps, verb: 'create', plural: 'deployments', namespace: 'a' },
    ],
    ['DELETE', '/api/v1/nodes', { ...core, verb: 'deletecollection', plural: 'nodes' }],
    ['DELETE', '/api/v1/nodes/a', { ...core, verb: 'delete', plural: 'nodes', name: 'a' }],
    ['GET', '/api/v1', { to: 'path', verb: 'get' }],
    ['GET', '/apis/apps/v1', { to: 'path', verb: 'get' }],
    ['GET', '/healthz', { to: 'path', verb: 'get' }],
    ['TRACE', '/api/v1/pods', undefined],
  ])('%s %s', (method, address, expected) => {
    expect(route(method, address)).toEqual(expected);
  });
});

describe('isTrue', () => {
  it.each([
    ['1', true],
    ['true', true],
    ['', true],
    ['0', false],
    ['false', false],
    [null, false],
  ])('%p is %p', (value, expected) => {
    expect(isTrue(value)).toBe(expected);
  });
});
