import { describe, expect, it } from '@jest/globals';
import type { Target } from './client.ts';
import {
  causesOf,
  conditionsOf,
  definitionsPath,
  registerWidgets,
  uniqueGroup,
  widgetDefinition,
} from './definitions.ts';
import { expectCode, useScratch } from './scratch.ts';
import { eventually, until, untilGone } from './watching.ts';

/** CustomResourceDefinitions themselves. */
export function customKindCases(target: () => Target): void {
  describe('custom kinds', () => {
    const scratch = useScratch(target);

    it('are established and then discovered', async () => {
      const { call } = scratch();

      const { definition, group } = await registerWidgets(scratch());
      const resources = await call('GET', `/apis/${group}/v1`);
      const groups = await call('GET', `/apis/${group}`);

      expect(conditionsOf(definition)).toMatchObject({ NamesAccepted: 'True', Established: 'True' });
      expect(definition.status).toMatchObject({
        acceptedNames: { plural: 'widgets', singular: 'widget', kind: 'Widget', shortNames: ['wd'] },
        storedVersions: ['v1'],
      });
      expect(resources.body).toMatchObject({
        groupVersion: `${group}/v1`,
        resources: [{ name: 'widgets', singularName: 'widget', namespaced: true, kind: 'Widget', shortNames: ['wd'] }],
      });
      expect(groups.body).toMatchObject({ kind: 'APIGroup', name: group });
    });

    it('are served like built-in ones', async () => {
      const { call, patch } = scratch();
      const { group, object, path } = await registerWidgets(scratch(), {
        schema: { 'x-kubernetes-preserve-unknown-fields': true },
      });

      const made = expectCode(201, await call('POST', path, { body: object('one', { spec: { a: 1 } }) }));
      const patched = expectCode(200, await patch('merge', `${path}/one`, { spec: { a: 2 } }));
      const labelled = expectCode(200, await patch('merge', `${path}/one`, { metadata: { labels: { a: 'b' } } }));
      const strategic = await patch('strategic', `${path}/one`, { spec: { a: 3 } });
      const list = await call('GET', path);

      expect([made, patched, labelled].map(({ metadata }) => metadata?.generation)).toEqual([1, 2, 2]);
      expect(strategic.code).toBe(415);
      expect(list.body).toMatchObject({ kind: 'WidgetList', apiVersion: `${group}/v1` });
      expect(list.body.items?.[0]).toMatchObject({ apiVersion: `${group}/v1`, kind: 'Widget', spec: { a: 2 } });
    });

    it('keep their status apart when they have the subresource', async () => {
      const { call, patch } = scratch();
      const { object, path } = await registerWidgets(scratch(), {
        schema: { 'x-kubernetes-preserve-unknown-fields': true },
        version: { subresources: { status: {} } },
      });

      const made = expectCode(201, await call('POST', path, { body: object('one', { status: { ready: true } }) }));
      const written = expectCode(
        200,
        await patch('merge', `${path}/one/status`, { spec: { a: 1 }, status: { ready: 1 } }),
      );

      expect(made).not.toHaveProperty('status');
      expect(written.status).toEqual({ ready: 1 });
      expect(written).not.toHaveProperty('spec');
      expect(written.metadata?.generation).toBe(1);
    });

    it('scale by the paths that they name', async () => {
      const { call, patch } = scratch();
      const paths = {
        specReplicasPath: '.spec.size',
        statusReplicasPath: '.status.size',
        labelSelectorPath: '.status.sel',
      };
      const { object, path } = await registerWidgets(scratch(), {
        schema: { 'x-kubernetes-preserve-unknown-fields': true },
        version: { subresources: { status: {}, scale: paths } },
      });
      await call('POST', path, { body: object('one', { spec: { size: 2 } }) });
      await patch('merge', `${path}/one/status`, { status: { size: 1, sel: 'a=b' } });

      const scale = await call('GET', `${path}/one/scale`);
      const changed = await patch('merge', `${path}/one/scale`, { spec: { replicas: 5 } });
      const after = await call('GET', `${path}/one`);

      expect(scale.body).toMatchObject({
        kind: 'Scale',
        spec: { replicas: 2 },
        status: { replicas: 1, selector: 'a=b' },
      });
      expect(expectCode(200, changed).spec).toEqual({ replicas: 5 });
      expect(after.body.spec).toEqual({ size: 5 });
    });

    it('print the columns that they name', async () => {
      const { call } = scratch();
      const { object, path } = await registerWidgets(scratch(), {
        schema: { 'x-kubernetes-preserve-unknown-fields': true },
        version: {
          additionalPrinterColumns: [
            { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
            { name: 'Note', type: 'string', jsonPath: '.spec.note', priority: 1 },
          ],
        },
      });
      await call('POST', path, { body: object('one', { spec: { size: 2 } }) });

      const { body } = await call('GET', path, { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } });

      expect(body).toMatchObject({
        columnDefinitions: [{ name: 'Name' }, { name: 'Size', type: 'integer' }, { name: 'Note', priority: 1 }],
        rows: [{ cells: ['one', 2, null] }],
      });
    });

    it('go with all their objects', async () => {
      const { call, client } = scratch();
      const { group, object, path } = await registerWidgets(scratch());
      await call('POST', path, { body: object('one') });

      await call('DELETE', `${definitionsPath}/widgets.${group}`);
      await untilGone(client, definitionsPath, `widgets.${group}`);

      await eventually(
        () => call('GET', path),
        ({ code }) => code === 404, // served a moment longer than it is defined
      );
    });

    it('must be named after their plural and group', async () => {
      const { call } = scratch();
      const definition = widgetDefinition(uniqueGroup()) as { metadata: object };

      const reply = await call('POST', definitionsPath, {
        body: { ...definition, metadata: { name: 'other.example.com' } },
      });

      expect(reply.code).toBe(422);
      expect(reply.body.details?.causes?.[0]).toMatchObject({ field: 'metadata.name' });
      expect(reply.body.details?.causes?.[0]?.message).toMatch(/must be spec\.names\.plural\+"\."\+spec\.group$/);
    });

    it('need a structural schema', async () => {
      const { call } = scratch();

      const reply = await call('POST', definitionsPath, {
        body: widgetDefinition(uniqueGroup(), {
          schema: { properties: { spec: { properties: { a: { type: 'string' } } } } },
        }),
      });

      expect(reply.code).toBe(422);
      expect(causesOf(reply.body)).toContainEqual([
        'spec.validation.openAPIV3Schema.properties[spec].type',
        'Required value: must not be empty for specified object fields',
      ]);
    });

    it('need exactly one storage version', async () => {
      const { call } = scratch();
      const schema = { openAPIV3Schema: { type: 'object' } };

      const reply = await call('POST', definitionsPath, {
        body: widgetDefinition(uniqueGroup(), {
          spec: { versions: [{ name: 'v1', served: true, storage: false, schema }] },
        }),
      });

      expect(reply.code).toBe(422);
      expect(reply.body.message).toContain('must have exactly one version marked as storage version');
    });

    it('serve every version of an object without converting it', async () => {
      const { call, namespace } = scratch();
      const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
      const { group, object, path } = await registerWidgets(scratch(), {
        spec: {
          versions: [
            { name: 'v1', served: true, storage: true, schema },
            { name: 'v2', served: true, storage: false, schema },
            { name: 'v3', served: false, storage: false, schema },
          ],
        },
      });
      await call('POST', path, { body: object('one', { spec: { a: 1 } }) });

      const second = await call('GET', `/apis/${group}/v2/namespaces/${namespace}/widgets/one`);
      const third = await call('GET', `/apis/${group}/v3/namespaces/${namespace}/widgets/one`);

      expect(expectCode(200, second)).toMatchObject({ apiVersion: `${group}/v2`, spec: { a: 1 } });
      expect(third.code).toBe(404);
    });

    it('do not take names that another kind of the group has', async () => {
      const { call, client } = scratch();
      const { group } = await registerWidgets(scratch());
      const twin = widgetDefinition(group) as { spec: object };
      const names = { plural: 'gadgets', singular: 'gadget', kind: 'Widget', listKind: 'WidgetList' };

      await call('POST', definitionsPath, {
        body: { ...twin, metadata: { name: `gadgets.${group}` }, spec: { ...twin.spec, names } },
      });
      const refused = await until(client, definitionsPath, `gadgets.${group}`, (definition) => {
        return conditionsOf(definition)['NamesAccepted'] !== undefined;
      });

      expect(conditionsOf(refused)).toMatchObject({ NamesAccepted: 'False', Established: 'False' });
    });
  });
}
