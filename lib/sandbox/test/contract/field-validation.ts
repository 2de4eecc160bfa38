import { describe, expect, it } from '@jest/globals';
import type { Target } from './client.ts';
import { configMap, deployment } from './samples.ts';
import { useScratch } from './scratch.ts';

/** Unknown fields: `fieldValidation` says whether they warn, fail or pass. */
export function fieldValidationCases(target: () => Target): void {
  describe('field validation', () => {
    const scratch = useScratch(target);
    const dryRun = 'All';

    it('warns of unknown fields by default', async () => {
      const { call, path } = scratch();

      const reply = await call('POST', path('configmaps'), {
        query: { dryRun },
        body: { ...configMap('unknown'), extra: 1, metadata: { name: 'unknown', oddity: true } },
      });

      expect(reply.code).toBe(201);
      expect(reply.warnings).toEqual(['unknown field "metadata.oddity"', 'unknown field "extra"']);
      expect(reply.body).not.toHaveProperty('extra');
    });

    it('names fields inside lists by index', async () => {
      const { call, path } = scratch();
      const labels = { app: 'deep' };
      const containers = [{ name: 'app', image: 'example.com/app:1', imagePolicy: 'x' }];

      const reply = await call('POST', path('deployments'), {
        query: { dryRun, fieldValidation: 'Warn' },
        body: deployment('deep', { template: { metadata: { labels }, spec: { containers } } }),
      });

      expect(reply.warnings).toEqual(['unknown field "spec.template.spec.containers[0].imagePolicy"']);
    });

    it('refuses unknown fields when strict', async () => {
      const { call, path } = scratch();

      const reply = await call('POST', path('configmaps'), {
        query: { dryRun, fieldValidation: 'Strict' },
        body: { ...configMap('strict'), extra: 1, more: 2 },
      });

      expect(reply.code).toBe(400);
      expect(reply.body).toMatchObject({
        reason: 'BadRequest',
        message:
          'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "extra", unknown field "more"',
      });
    });

    it('is silent when set to Ignore', async () => {
      const { call, path } = scratch();

      const reply = await call('POST', path('configmaps'), {
        query: { dryRun, fieldValidation: 'Ignore' },
        body: { ...configMap('ignored'), extra: 1 },
      });

      expect(reply.code).toBe(201);
      expect(reply.warnings).toEqual([]);
    });

    it('looks at patches too', async () => {
      const { create, patch, path } = scratch();
      await create('configmaps', configMap('patched'));

      const warned = await patch('merge', path('configmaps', 'patched'), { extra: 1 }, { dryRun });
      const strict = await patch(
        'merge',
        path('configmaps', 'patched'),
        { extra: 1 },
        { dryRun, fieldValidation: 'Strict' },
      );

      expect(warned.code).toBe(200);
      expect(warned.warnings).toEqual(['unknown field "extra"']);
      expect(strict.code).toBe(422);
      expect(strict.body.message).toContain('strict decoding error: unknown field "extra"');
    });

    it('refuses an unknown field in an apply, whatever the setting', async () => {
      const { patch, path } = scratch();

      const reply = await patch(
        'apply',
        path('configmaps', 'typed'),
        { ...configMap('typed'), extra: 1 },
        {
          fieldManager: 'one',
        },
      );

      expect(reply.code).toBe(500);
      expect(reply.body.message).toContain('.extra: field not declared in schema');
    });

    it('refuses another setting', async () => {
      const { call, path } = scratch();

      const reply = await call('POST', path('configmaps'), {
        query: { fieldValidation: 'Sometimes' },
        body: configMap('setting'),
      });

      expect(reply.code).toBe(422);
      expect(reply.body.details?.causes?.[0]).toMatchObject({
        field: 'fieldValidation',
        reason: 'FieldValueNotSupported',
      });
    });

    it('refuses a value of the wrong type', async () => {
      const { call, path } = scratch();

      const reply = await call('POST', path('deployments'), { body: deployment('typed', { replicas: 'three' }) });

      expect(reply.code).toBe(400);
      expect(reply.body.message).toBe(
        'Deployment in version "v1" cannot be handled as a Deployment: json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32',
      );
    });

    it('names every invalid field of an object', async () => {
      const { call, path } = scratch();

      const reply = await call('POST', path('deployments'), {
        body: deployment('causes', { replicas: -1, selector: { matchLabels: { app: 'other' } } }),
      });

      expect(reply.code).toBe(422);
      expect(reply.body.details).toMatchObject({ name: 'causes', group: 'apps', kind: 'Deployment' });
      expect(reply.body.details?.causes?.map(({ field }) => field)).toEqual(
        expect.arrayContaining(['spec.replicas', 'spec.template.metadata.labels']),
      );
    });

    it('keeps the selector of a Deployment immutable', async () => {
      const { create, patch, path } = scratch();
      await create('deployments', deployment('selector'));
      const labels = { app: 'selector', more: 'yes' };

      const reply = await patch('merge', path('deployments', 'selector'), {
        spec: { selector: { matchLabels: labels }, template: { metadata: { labels } } },
      });

      expect(reply.code).toBe(422);
      expect(reply.body.details?.causes?.[0]).toMatchObject({
        reason: 'FieldValueInvalid',
        field: 'spec.selector',
        message: expect.stringMatching(/field is immutable$/),
      });
    });

    it('refuses labels and annotation keys that are malformed', async () => {
      const { call, path } = scratch();

      const reply = await call('POST', path('configmaps'), {
        body: configMap('keys', {}, { labels: { a: 'not ok' }, annotations: { 'b c': '1' } }),
      });

      expect(reply.code).toBe(422);
      expect(reply.body.details?.causes?.map(({ field }) => field)).toEqual([
        'metadata.labels',
        'metadata.annotations',
      ]);
    });
  });
}
