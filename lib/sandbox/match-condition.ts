/** What is wrong with a match condition. */
export function matchConditionProblem(_expression: string): string | undefined {
  return undefined;
}
