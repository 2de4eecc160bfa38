import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Body, Reply, Target } from './client.ts';
import {
  causesOf,
  definitionsPath,
  registerWidgets,
  uniqueGroup,
  widgetDefinition,
  type CustomKind,
} from './definitions.ts';
import { expectCode, useScratch } from './scratch.ts';

const schema = {
  properties: {
    spec: {
      type: 'object',
      'x-kubernetes-validations': [
        { rule: 'self.min <= self.max', message: 'min must not exceed max' },
        { rule: '!has(self.note) || self.note.startsWith("n")', messageExpression: '"note " + self.note + " is odd"' },
        { rule: 'self.items.all(item, item.size() > 1)', message: 'items are too short', fieldPath: '.items' },
        { rule: 'self.mode != "locked" || has(self.key)', message: 'locked needs a key', reason: 'FieldValueRequired' },
      ],
      properties: {
        min: { type: 'integer', default: 0 },
        max: { type: 'integer', default: 10 },
        note: { type: 'string', maxLength: 20 },
        key: { type: 'string' },
        mode: { type: 'string', default: 'open' },
        items: { type: 'array', maxItems: 5, default: [], items: { type: 'string', maxLength: 10 } },
        fixed: {
          type: 'string',
          'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'fixed cannot change' }],
        },
        count: {
          type: 'integer',
          'x-kubernetes-validations': [{ rule: 'self >= oldSelf', message: 'count only grows' }],
        },
      },
    },
  },
};

/** `x-kubernetes-validations`: rules in CEL. */
export function customRuleCases(target: () => Target): void {
  describe('custom rules', () => {
    const scratch = useScratch(target);
    let kind: CustomKind | undefined;

    beforeAll(async () => {
      kind = await registerWidgets(scratch(), { schema });
    });

    function registered(): CustomKind {
      if (kind === undefined) {
        throw new Error('the kind is registered before the cases');
      }
      return kind;
    }

    function post(name: string, spec: object): Promise<Reply> {
      return scratch().call('POST', registered().path, { body: registered().object(name, { spec }) });
    }

    it('let through what satisfies them', async () => {
      expectCode(201, await post('good', { min: 1, max: 2, note: 'nice', items: ['ab'] }));
    });

    it.each([
      [{ min: 3, max: 2 }, 'FieldValueInvalid', 'spec', 'min must not exceed max'],
      [{ note: 'x' }, 'FieldValueInvalid', 'spec', 'note x is odd'],
      [{ items: ['a'] }, 'FieldValueInvalid', 'spec.items', 'items are too short'],
      [{ mode: 'locked' }, 'FieldValueRequired', 'spec', 'locked needs a key'],
    ])('refuse %j', async (spec, reason, field, text) => {
      const reply = await post('bad', spec);

      expect(reply.code).toBe(422);
      const [cause] = reply.body.details?.causes ?? [];
      expect(cause).toMatchObject({ reason, field });
      expect(cause?.message).toContain(text);
    });

    it('compare with the state before, on updates only', async () => {
      const { patch } = scratch();
      const { path } = registered();
      expectCode(201, await post('changes', { fixed: 'a', count: 2 }));

      const grown = await patch('merge', `${path}/changes`, { spec: { count: 3 } });
      const shrunk = await patch('merge', `${path}/changes`, { spec: { count: 1 } });
      const changed = await patch('merge', `${path}/changes`, { spec: { fixed: 'b' } });

      expect(grown.code).toBe(200);
      expect(shrunk.code).toBe(422);
      expect(causesOf(shrunk.body)).toEqual([['spec.count', 'Invalid value: 1: count only grows']]);
      expect(causesOf(changed.body)).toEqual([['spec.fixed', 'Invalid value: "b": fixed cannot change']]);
    });

    it('are not asked when the schema already refuses', async () => {
      const reply = await post('typed', { min: 'x', max: 1 });

      expect(reply.code).toBe(422);
      expect(reply.body.message).toContain('spec.min in body must be of type integer');
    });

    async function register(rule: string): Promise<Body> {
      const spec = { type: 'object', properties: { a: { type: 'integer' } }, 'x-kubernetes-validations': [{ rule }] };
      const reply = await scratch().call('POST', definitionsPath, {
        query: { dryRun: 'All' },
        body: widgetDefinition(uniqueGroup(), { schema: { properties: { spec } } }),
      });
      expect(reply.code).toBe(422);
      return reply.body;
    }

    it.each(['self.a >', 'self.b == 1', 'self.a == "one"', 'self.a'])(
      'that cannot be compiled are refused: %s',
      async (rule) => {
        const refused = await register(rule);

        expect(refused.details?.causes?.[0]).toMatchObject({
          field: 'spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule',
        });
      },
    );
  });
}
