import type { Environment } from '@marcbachmann/cel-js';
import { compilePattern } from '../schema/pattern.ts';

type Comparable = bigint | number | string | boolean | Date;

/** The functions that Kubernetes adds to CEL for lists, regular expressions and texts. What is missing is refused by name. */
export function addKubernetesFunctions(environment: Environment): void {
  addListFunctions(environment);
  addStringFunctions(environment);
}

function addListFunctions(environment: Environment): void {
  environment.registerFunction('list.isSorted(): bool', isSorted);
  environment.registerFunction('list.sum(): dyn', sum);
  environment.registerFunction('list.min(): dyn', (list: readonly Comparable[]) => extreme(list, 'min'));
  environment.registerFunction('list.max(): dyn', (list: readonly Comparable[]) => extreme(list, 'max'));
  environment.registerFunction('list.indexOf(dyn): int', (list: readonly unknown[], item: unknown) =>
    BigInt(list.indexOf(item)),
  );
  environment.registerFunction('list.lastIndexOf(dyn): int', (list: readonly unknown[], item: unknown) =>
    BigInt(list.lastIndexOf(item)),
  );
}

function addStringFunctions(environment: Environment): void {
  environment.registerFunction(
    'string.find(string): string',
    (text: string, pattern: string) => compilePattern(pattern).exec(text)?.[0] ?? '',
  );
  environment.registerFunction('string.findAll(string): list<string>', (text: string, pattern: string) =>
    [...text.matchAll(compilePattern(pattern, 'gu'))].map(([match]) => match),
  );
  environment.registerFunction('string.replace(string, string): string', (text: string, from: string, to: string) =>
    text.replaceAll(from, () => to),
  );
  environment.registerFunction('string.charAt(int): string', (text: string, index: bigint) =>
    text.charAt(Number(index)),
  );
}

function isSorted(list: readonly Comparable[]): boolean {
  return list.every((item, index) => {
    const before = list[index - 1];
    return before === undefined || before <= item;
  });
}

function sum(list: readonly (bigint | number)[]): bigint | number {
  let total: bigint | number = 0n;
  for (const item of list) {
    total = typeof item === 'bigint' && typeof total === 'bigint' ? total + item : Number(total) + Number(item);
  }
  return total;
}

function extreme(list: readonly Comparable[], which: 'min' | 'max'): Comparable {
  const [first, ...others] = list;
  if (first === undefined) {
    throw new Error(`${which} called on empty list`);
  }
  let found = first;
  for (const item of others) {
    found = (which === 'min' ? item < found : item > found) ? item : found;
  }
  return found;
}
