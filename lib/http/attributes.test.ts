import { describe, expect, it } from '@jest/globals';
import { CloudEvent } from 'cloudevents';
import { assertAttributes } from './attributes.ts';

const sound = { specversion: '1.0', id: '1', source: 'https://10.96.0.1:443', type: 'dev.knative.apiserver.ref.add' };

const accepted = [
  {},
  { source: '/apis/v1/namespaces/default' },
  { source: 'urn:uuid:6e8bc430-9c3a-11d9-9669-0800200c9a66' },
  { source: 'https://[::1]:443/a%20b?c=d#e' },
  { time: '2026-01-01T00:00:00Z' },
  { time: '2026-01-01T00:00:00.123456789+02:00' },
  { subject: '/apis/networking.k8s.io/v1/namespaces/default/ingresses/shop' },
  { dataschema: 'https://example.com/schema' },
  { datacontenttype: 'application/json' },
  { namespace: '', knativearrivaltime: '2026-01-01T00:00:00Z', count: 3, flag: true },
];

const refused: [string, Record<string, unknown>][] = [
  ['id', { id: 7 }],
  ['source', { source: 'not a uri' }],
  ['source', { source: 'https://example.com/%zz' }],
  ['source', { source: {} }],
  ['type', { type: ['a'] }],
  ['time', { time: 'yesterday' }],
  ['time', { time: '2026-01-01' }],
  ['subject', { subject: '' }],
  ['dataschema', { dataschema: 'schema' }],
  ['datacontenttype', { datacontenttype: '' }],
  ['data-schema', { 'data-schema': 'x' }],
  ['Kind', { Kind: 'Ingress' }],
];

describe('attributes of an event', () => {
  it.each(accepted)('accepts %j, as the SDK does', (given) => {
    expect(() => assertAttributes({ ...sound, ...given })).not.toThrow();
    expect(() => new CloudEvent({ ...sound, ...given })).not.toThrow();
  });

  it.each(refused)('refuses a wrong %s, as the SDK does: %j', (name, given) => {
    expect(() => assertAttributes({ ...sound, ...given })).toThrow(name);
    expect(() => new CloudEvent({ ...sound, ...given })).toThrow();
  });

  it.each(['specversion', 'id', 'source', 'type'])('names the missing %s, which the SDK would invent', (name) => {
    expect(() => assertAttributes({ ...sound, [name]: undefined })).toThrow(`event attribute ${name} is missing`);
  });

  it('refuses other versions of the specification', () => {
    expect(() => assertAttributes({ ...sound, specversion: '0.3' })).toThrow('specversion "0.3" is not supported');
  });
});
