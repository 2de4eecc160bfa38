import { describe, expect, it } from '@jest/globals';
import { examinePulse } from './pulse.ts';

const now = new Date('2026-03-01T12:00:00Z');
const seconds = now.getTime() / 1000;
const old = `process_start_time_seconds ${seconds - 7200}`;

function found(check: string, ...lines: readonly string[]): object | undefined {
  return examinePulse(lines.join('\n'), { function: 'one', ticks: true, now }).find((each) => each.check === check);
}

function success(name: string, ago: number): string {
  return `kube_reflex_last_success_timestamp_seconds{function="${name}"} ${seconds - ago}`;
}

function tick(name: string, count: number): string {
  return `kube_reflex_requests_total{function="${name}",trigger="tick",result="ok"} ${count}`;
}

describe('the pulse of a process', () => {
  it.each([
    ['a success of late', [old, success('one', 120)], { state: 'ok', message: '2 minutes ago' }],
    ['one that is long ago', [old, success('one', 3600)], { state: 'error', message: '60 minutes ago' }],
    ['one of another function', [old, success('other', 60)], { state: 'error' }],
    ['none yet in a young process', [`process_start_time_seconds ${seconds - 60}`], { state: 'unknown' }],
    ['metrics of something else', ['<html>'], { state: 'unknown', message: 'its metrics could not be read' }],
  ])('knows %s', (_what, lines, expected) => {
    expect(found('last success', ...lines)).toMatchObject(expected);
  });

  it.each([
    ['ticks', [old, tick('one', 3), tick('one', 2)], { state: 'ok', message: '5 arrived' }],
    ['none for hours', [old], { state: 'error', message: 'none arrived in the 120 minutes of its life' }],
    ['only those of another function', [old, tick('other', 3)], { state: 'error' }],
  ])('hears %s', (_what, lines, expected) => {
    expect(found('ticks', ...lines)).toMatchObject(expected);
  });

  it('expects no ticks where there are none', () => {
    const checks = examinePulse(old, { function: 'one', ticks: false, now }).map(({ check }) => check);

    expect(checks).toEqual(['last success']);
  });
});
