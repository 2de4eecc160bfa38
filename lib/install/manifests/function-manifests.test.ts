import { describe, expect, it } from '@jest/globals';
import * as z from 'zod';
import { text } from '../../function/config.ts';
import type { Admission } from '../../function/admission.ts';
import { FunctionSettings, ProcessSettings } from '../../function/settings.ts';
import { functionFile } from './file.ts';
import { renderFunction } from './function-manifests.ts';
import { render, sample } from './testing/sample.ts';

describe('further objects', () => {
  it('come first, for the namespace of the installation', () => {
    const [first] = render({
      objects: (_config, { namespace }) => [
        { apiVersion: 'example.test/v1', kind: 'Thing', metadata: { name: 'thing' }, spec: { namespace } },
      ],
    });

    expect(first).toMatchObject({ kind: 'Thing', spec: { namespace: 'kube-reflex' } });
  });
});

describe('settings', () => {
  const config = z.object({
    TARGET: text({ about: 'where to', example: 'somewhere' }),
    LIMIT: z.string().default('1'),
  });

  const admission: Admission = {
    ...{ path: '/review', type: 'validating', onError: 'allow', timeoutSeconds: 5, webhooks: [] },
    decide: () => ({ allow: true }),
  };

  it('that have no default are shown by their example and marked', () => {
    const definition = sample({ config });

    expect(functionFile('sample', renderFunction(definition))).toContain(
      '- name: TARGET\n              value: somewhere # an example: set your own\n',
    );
  });

  it('that are given are in every workload, and no example any more', () => {
    const environment = { TARGET: 'mine', LIMIT: '7' };

    const rendered = renderFunction(sample({ config, admit: () => [admission] }), undefined, { environment });

    const workloads = rendered.manifests.filter(({ spec }) => spec !== undefined && 'template' in (spec as object));
    expect(workloads.map(({ metadata }) => metadata.name)).toEqual(['sample', 'sample-webhook']);
    for (const workload of workloads) {
      expect(JSON.stringify(workload)).toContain('{"name":"TARGET","value":"mine"}');
      expect(JSON.stringify(workload)).toContain('{"name":"LIMIT","value":"7"}');
    }
    expect(functionFile('sample', rendered)).not.toContain('value: mine #');
  });

  it('that workloads get are settings that the process or the function knows', () => {
    const known = [ProcessSettings, FunctionSettings, config].flatMap(({ shape }) => Object.keys(shape));
    const workloads = render({ config }).filter(({ kind }) => kind === 'Service' || kind === 'Deployment');
    const names = [...JSON.stringify(workloads).matchAll(/\{"name":"([A-Z_]+)","value"/g)].map(([, name]) => name);

    expect(names).toEqual(expect.arrayContaining(['FUNCTION', 'ROLE', 'TARGET']));
    expect(names.filter((name) => name !== 'FUNCTION' && !known.includes(name ?? ''))).toEqual([]);
  });
});
