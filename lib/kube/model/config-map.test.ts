import { describe, expect, it } from '@jest/globals';
import { writeConfigMap } from './config-map.ts';
import { configMaps, type ConfigMap } from './resource.ts';

const place = { namespace: 'kube-system', name: 'rules' };

function configMap(data: Record<string, string> | undefined, annotations?: Record<string, string>): ConfigMap {
  const metadata = { ...place, resourceVersion: '7', ...(annotations === undefined ? {} : { annotations }) };
  return { metadata, ...(data === undefined ? {} : { data }) };
}

describe('a ConfigMap', () => {
  it('that is absent is created', () => {
    const step = writeConfigMap(undefined, { ...place, data: { a: '1' } }, 'why');

    expect(step).toMatchObject({ do: 'create', resource: configMaps, object: { metadata: place, data: { a: '1' } } });
  });

  it('that is as it should be costs no step, whatever others keep in it', () => {
    const content = { ...place, data: { a: '1' }, obsolete: ['gone'], obsoleteAnnotations: ['gone'] };

    expect(writeConfigMap(configMap({ a: '1', theirs: 'x' }, { theirs: 'y' }), content, 'why')).toBeUndefined();
  });

  it('is changed where it differs, and only if nobody wrote since', () => {
    const current = configMap({ a: '1', old: 'x', theirs: 'x' }, { 'old/note': 'y' });
    const content = { ...place, data: { a: '2' }, obsolete: ['old'], obsoleteAnnotations: ['old/note'] };

    expect(writeConfigMap(current, content, 'why')).toMatchObject({
      do: 'patch',
      ...place,
      operations: [
        { op: 'test', path: '/metadata/resourceVersion', value: '7' },
        { op: 'remove', path: '/data/old' },
        { op: 'remove', path: '/metadata/annotations/old~1note' },
        { op: 'add', path: '/data/a', value: '2' },
      ],
    });
  });

  it('gets maps that it lacks before what goes into them', () => {
    const step = writeConfigMap(configMap(undefined), { ...place, data: { a: '1' }, labels: { b: '2' } }, 'why');

    expect(step).toMatchObject({
      operations: [
        { op: 'test' },
        { op: 'add', path: '/data', value: {} },
        { op: 'add', path: '/data/a', value: '1' },
        { op: 'add', path: '/metadata/labels', value: {} },
        { op: 'add', path: '/metadata/labels/b', value: '2' },
      ],
    });
  });
});
