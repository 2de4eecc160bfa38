import { describe, expect, it } from '@jest/globals';
import { decodeProtobuf, knowsProtobuf, openEnvelope, ProtobufProblem } from './protobuf.ts';
import { createSchemas } from '../schema/schema.ts';
import { readDefinitionTable } from '../schema/tables.ts';

const schemas = createSchemas(readDefinitionTable());

/** A length-delimited field. */
function field(number: number, content: Buffer | string): Buffer {
  const bytes = Buffer.from(content);
  const key = (number << 3) | 2;
  const keyBytes = key < 0x80 ? [key] : [(key & 0x7f) | 0x80, key >>> 7];
  return Buffer.concat([Buffer.from([...keyBytes, bytes.length]), bytes]);
}

function varint(number: number, value: number): Buffer {
  return Buffer.from([number << 3, value]);
}

function message(...fields: Buffer[]): Buffer {
  return Buffer.concat(fields);
}

function envelope(apiVersion: string, kind: string, raw: Buffer): Buffer {
  return message(Buffer.from('k8s\0'), field(1, message(field(1, apiVersion), field(2, kind))), field(2, raw));
}

describe('protobuf', () => {
  it('reads maps, bytes and leaves out what is empty', () => {
    const metadata = message(
      field(1, 'a'),
      field(2, ''),
      field(8, ''),
      field(11, message(field(1, 'app'), field(2, 'x'))),
    );
    const raw = message(field(1, metadata), field(2, message(field(1, 'key'), field(2, 'value'))));

    const opened = openEnvelope(envelope('v1', 'Secret', raw));

    expect(decodeProtobuf(opened, 'io.k8s.api.core.v1.Secret', schemas)).toEqual({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'a', labels: { app: 'x' } },
      data: { key: Buffer.from('value').toString('base64') },
    });
  });

  it('keeps zero behind a pointer and drops it elsewhere; numbers or names stand for ports', () => {
    const deployment = message(field(2, message(varint(1, 0), varint(5, 0), varint(6, 3))));
    const port = message(varint(1, 1), field(3, 'http'));
    const service = message(field(2, message(field(1, message(varint(3, 80), field(4, port))))));

    expect(
      decodeProtobuf(
        openEnvelope(envelope('apps/v1', 'Deployment', deployment)),
        'io.k8s.api.apps.v1.Deployment',
        schemas,
      ),
    ).toMatchObject({ spec: { replicas: 0, revisionHistoryLimit: 3 } });
    expect(
      decodeProtobuf(openEnvelope(envelope('v1', 'Service', service)), 'io.k8s.api.core.v1.Service', schemas),
    ).toMatchObject({ spec: { ports: [{ port: 80, targetPort: 'http' }] } });
  });

  it('puts inlined structs where JSON has them', () => {
    const volume = message(
      field(1, 'config'),
      field(2, message(field(19, message(field(1, message(field(1, 'cm'))))))),
    );
    const pod = message(field(2, message(field(1, volume))));

    expect(decodeProtobuf(openEnvelope(envelope('v1', 'Pod', pod)), 'io.k8s.api.core.v1.Pod', schemas)).toMatchObject({
      spec: { volumes: [{ name: 'config', configMap: { name: 'cm' } }] },
    });
  });

  it.each([
    ['no envelope', Buffer.from('{}')],
    ['a length beyond the end', Buffer.from('k8s\0\x0a\x7f')],
    ['an unknown wire type', Buffer.from('k8s\0\x0f')],
    ['an endless number', Buffer.concat([Buffer.from('k8s\0'), Buffer.alloc(12, 0xff)])],
  ])('refuses %s', (_, body) => {
    expect(() => openEnvelope(body)).toThrow(ProtobufProblem);
  });

  it('knows the kinds that typed clients send', () => {
    expect(knowsProtobuf('io.k8s.api.authorization.v1.SelfSubjectAccessReview')).toBe(true);
    expect(knowsProtobuf('com.example.v1.Widget')).toBe(false);
  });
});
