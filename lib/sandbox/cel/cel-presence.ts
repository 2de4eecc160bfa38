import type { ASTNode } from '@marcbachmann/cel-js';
import { celName } from './cel-types.ts';
import type { Schema } from '../schema/schema.ts';

export interface Undeclared {
  readonly field: string;
  /** Where the parenthesis of `has(` stands. */
  readonly offset: number;
}

/**
 * The first `has()` that asks for a field which no schema declares: always false, so surely a mistake.
 * The evaluator's own check lets it pass.
 */
export function undeclaredPresence(
  node: ASTNode,
  variables: Readonly<Record<string, Schema | string>>,
): Undeclared | undefined {
  for (const inner of nodesOf(node)) {
    if (inner.op === 'call' && inner.args[0] === 'has') {
      const [asked] = inner.args[1];
      const found = asked === undefined ? undefined : resolve(asked, variables);
      if (found !== undefined && 'missing' in found) {
        return { field: found.missing, offset: inner.start + 'has'.length };
      }
    }
  }
  return undefined;
}

function nodesOf(node: ASTNode): readonly ASTNode[] {
  return [node, ...childrenOf(node.args).flatMap(nodesOf)];
}

function childrenOf(args: unknown): readonly ASTNode[] {
  if (Array.isArray(args)) {
    return args.flatMap(childrenOf);
  }
  return isNode(args) ? [args] : [];
}

function isNode(value: unknown): value is ASTNode {
  return typeof value === 'object' && value !== null && 'op' in value && 'args' in value;
}

/** The schema that a chain of fields leads to, if it begins with a variable that has one. */
function resolve(
  node: ASTNode,
  variables: Readonly<Record<string, Schema | string>>,
): { readonly schema: Schema } | { readonly missing: string } | undefined {
  if (node.op === 'id') {
    const variable = variables[node.args];
    return variable === undefined || typeof variable === 'string' ? undefined : { schema: variable };
  }
  if (node.op !== '.') {
    return undefined;
  }
  const [object, name] = node.args;
  const owner = resolve(object, variables);
  if (owner === undefined || 'missing' in owner) {
    return owner;
  }
  const schema = fieldNamed(owner.schema, name);
  return schema === undefined ? { missing: name } : { schema };
}

function fieldNamed({ properties, values }: Schema, name: string): Schema | undefined {
  const [found] = [...properties].filter(([field]) => celName(field) === name);
  return found === undefined ? values : found[1];
}
