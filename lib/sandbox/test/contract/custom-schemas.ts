import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Reply, Target } from './client.ts';
import { causesOf, registerWidgets, type CustomKind } from './definitions.ts';
import { expectCode, useScratch } from './scratch.ts';

const schema = {
  properties: {
    spec: {
      type: 'object',
      required: ['size'],
      properties: {
        size: { type: 'integer', minimum: 1, maximum: 10 },
        color: { type: 'string', enum: ['red', 'blue'], default: 'red' },
        name: { type: 'string', minLength: 2, maxLength: 4, pattern: '^[a-z]+$' },
        port: { 'x-kubernetes-int-or-string': true },
        tags: { type: 'array', maxItems: 2, items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
        parts: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['id'],
          items: {
            type: 'object',
            required: ['id'],
            properties: { id: { type: 'string' }, count: { type: 'integer', default: 1 } },
          },
        },
        options: { type: 'object', additionalProperties: { type: 'string' } },
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        maybe: { type: 'string', nullable: true },
        when: { type: 'string', format: 'date-time' },
      },
    },
  },
};

/** Schemas of custom kinds: types, bounds, defaults, pruning, list types. */
export function customSchemaCases(target: () => Target): void {
  describe('custom schemas', () => {
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

    function post(name: string, spec: unknown, query: Readonly<Record<string, string>> = {}): Promise<Reply> {
      const { object, path } = registered();
      return scratch().call('POST', path, { query: { dryRun: 'All', ...query }, body: object(name, { spec }) });
    }

    it('fill in defaults, also inside lists', async () => {
      const made = expectCode(201, await post('defaults', { size: 1, parts: [{ id: 'a' }, { id: 'b', count: 3 }] }));

      expect(made.spec).toEqual({
        size: 1,
        color: 'red',
        parts: [
          { id: 'a', count: 1 },
          { id: 'b', count: 3 },
        ],
      });
    });

    it('prune what they do not know, and warn', async () => {
      const reply = await post('pruned', { size: 1, odd: true, parts: [{ id: 'a', odd: 1 }] });

      expect(expectCode(201, reply).spec).toEqual({ size: 1, color: 'red', parts: [{ id: 'a', count: 1 }] });
      expect(reply.warnings).toEqual(['unknown field "spec.odd"', 'unknown field "spec.parts[0].odd"']);
    });

    it('refuse what they do not know when strict', async () => {
      const reply = await post('strict', { size: 1, odd: true }, { fieldValidation: 'Strict' });

      expect(reply.code).toBe(400);
      expect(reply.body.message).toBe(
        'Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "spec.odd"',
      );
    });

    it('keep unknown fields where they say so', async () => {
      const made = expectCode(201, await post('free', { size: 1, free: { any: { thing: [1] } } }));

      expect(made.spec).toMatchObject({ free: { any: { thing: [1] } } });
    });

    it.each([
      [{ size: 0 }, 'spec.size', 'Invalid value: 0: spec.size in body should be greater than or equal to 1'],
      [{ size: 11 }, 'spec.size', 'Invalid value: 11: spec.size in body should be less than or equal to 10'],
      [{ size: 'x' }, 'spec.size', 'Invalid value: "string": spec.size in body must be of type integer: "string"'],
      [{}, 'spec.size', 'Required value'],
      [{ size: 1, color: 'green' }, 'spec.color', 'Unsupported value: "green": supported values: "red", "blue"'],
      [{ size: 1, name: 'a' }, 'spec.name', 'Invalid value: "a": spec.name in body should be at least 2 chars long'],
      [{ size: 1, name: 'abcde' }, 'spec.name', 'Too long: may not be more than 4 bytes'],
      [{ size: 1, name: 'AB' }, 'spec.name', 'Invalid value: "AB": spec.name in body should match \'^[a-z]+$\''],
      [{ size: 1, tags: ['a', 'b', 'c'] }, 'spec.tags', 'Too many: 3: must have at most 2 items'],
      [{ size: 1, tags: ['a', 'a'] }, 'spec.tags[1]', 'Duplicate value: "a"'],
      [{ size: 1, parts: [{ id: 'a' }, { id: 'a' }] }, 'spec.parts[1]', 'Duplicate value: {"id":"a"}'],
      [{ size: 1, parts: [{}] }, 'spec.parts[0].id', 'Required value'],
      [
        { size: 1, options: { a: 1 } },
        'spec.options.a',
        'Invalid value: "integer": spec.options.a in body must be of type string: "integer"',
      ],
      [
        { size: 1, port: true },
        'spec.port',
        'Invalid value: "boolean": spec.port in body must be of type integer,string: "boolean"',
      ],
      [
        { size: 1, when: 'soon' },
        'spec.when',
        'Invalid value: "soon": spec.when in body must be of type date-time: "soon"',
      ],
    ])('refuse %j', async (spec, field, message) => {
      const reply = await post('refused', spec);

      expect(reply.code).toBe(422);
      expect(reply.body.reason).toBe('Invalid');
      expect(causesOf(reply.body)).toContainEqual([field, message]);
    });

    it.each([
      [{ size: 1, port: 80 }],
      [{ size: 1, port: 'http' }],
      [{ size: 1, maybe: null }],
      [{ size: 1, when: '2026-01-01T00:00:00Z' }],
    ])('take %j', async (spec) => {
      const made = expectCode(201, await post('taken', spec));

      expect(made.spec).toEqual({ ...spec, color: 'red' });
    });

    it('drop a null where a default stands, and keep it where it is allowed', async () => {
      const made = expectCode(201, await post('nulls', { size: 1, color: null, maybe: null }));

      expect(made.spec).toEqual({ size: 1, color: 'red', maybe: null });
    });

    it('say what is wrong with the whole object in one message', async () => {
      const reply = await post('many', { size: 0, color: 'green' });

      const { group } = registered();
      expect(reply.body.message).toContain(`Widget.${group} "many" is invalid: [`);
      expect(reply.body.details).toMatchObject({ name: 'many', group, kind: 'Widget' });
    });

    it('merge lists by their keys in server-side apply', async () => {
      const { patch } = scratch();
      const { object, path } = registered();
      const one = object('applied', { spec: { size: 1, parts: [{ id: 'a' }] } });
      const two = object('applied', { spec: { size: 1, parts: [{ id: 'b' }] } });

      await patch('apply', `${path}/applied`, one, { fieldManager: 'one' });
      const reply = await patch('apply', `${path}/applied`, two, { fieldManager: 'two' });

      expect(expectCode(200, reply).spec).toMatchObject({ parts: [{ id: 'a' }, { id: 'b' }] });
    });
  });
}
