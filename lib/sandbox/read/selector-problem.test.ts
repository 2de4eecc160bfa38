import { describe, expect, it } from '@jest/globals';
import { selectorProblem } from './selector-problem.ts';

describe('selectorProblem', () => {
  it.each([
    ['a=b=c', "found '=', expected: ',' or 'end of string'"],
    ['a=b c', "found 'c', expected: ',' or 'end of string'"],
    ['a in b', "unable to parse requirement: found 'b' expected: '('"],
    ['-a=1', 'unable to parse requirement: <nil>: Invalid value: "-a": name part must'],
    ['a ~ b', "unable to parse requirement: found '~', expected: in, notin, =, ==, !=, gt, lt"],
    ['a=-b', 'unable to parse requirement: values[0][a]: Invalid value: "-b": a valid label must'],
  ])('%s', (text, expected) => {
    expect(selectorProblem(text)).toContain(expected);
  });
});
