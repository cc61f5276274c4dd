import { compare } from './against.ts';
import { GOALS, judge } from './goals.ts';
import { longestGap, percentile } from './numbers.ts';
import { readOptions } from './options.ts';
import { jsonOf, openSheet, textOf, type Results } from './sheet.ts';

const empty = (): Results => ({ about: { machine: 'a fast one' }, steps: [], measured: {} });

test('a failed step shows its measured values and its error', () => {
  const results = empty();
  const sheet = openSheet(results, 'bursts');
  sheet.table('Bursts')({ who: 'Meskot', 'delivered/s': 812.4 });
  sheet.measured('stall', 20);
  sheet.fail(new Error('PostgreSQL went away'));
  const text = textOf(results);
  expect(text).toContain('Bursts\nwho     delivered/s\nMeskot          812');
  expect(text).toContain('The step "bursts" failed: PostgreSQL went away');
  expect(text).toMatch(/^ok {5}B6a /m);
});

test('the figures file contains the measured values, with every goal met or missed', () => {
  const results = empty();
  const sheet = openSheet(results, 'endpoint');
  sheet.table('One healthy endpoint')({ 'delivered/s': 999.9 });
  sheet.measured('endpoint', 999.9);
  expect(JSON.parse(jsonOf(results))).toMatchObject({
    steps: [{ step: 'endpoint', tables: [{ rows: [{ 'delivered/s': 999.9 }] }] }],
    goals: [{ of: 'B6b', goal: '≥ 1000', measured: 999.9, ok: false }],
  });
});

test('figures keep their precision, and lines show hundredths', () => {
  const results = empty();
  openSheet(results, 'sessions').measured('livez', 4 / 3);
  expect(JSON.parse(jsonOf(results))).toMatchObject({ goals: [{ measured: 4 / 3 }] });
  expect(textOf(results)).toMatch(/^ok {5}B11 .* 1[.]33 {2}× bare$/m);
});

test('a comparison has rounds and steps of its own, and neither JSON nor profiles', () => {
  const read = (...args: string[]) => readOptions(args, ['http', 'sessions', 'bursts', 'payments']);
  expect(read()).toMatchObject({ steps: ['http', 'sessions', 'bursts', 'payments'], against: undefined });
  expect(read('--against', 'HEAD')).toMatchObject({
    steps: ['sessions', 'bursts', 'payments'],
    against: { commit: 'HEAD', rounds: 3 },
  });
  expect(read('--against', 'HEAD', '--rounds', '5', '--only', 'http')).toMatchObject({
    steps: ['http'],
    against: { rounds: 5 },
  });
  for (const args of [
    ['--only', 'nothing'],
    ['--rounds', '5'],
    ['--against', 'HEAD', '--rounds', '0'],
    ['--against', 'HEAD', '--json'],
    ['--against', 'HEAD', '--profile', 'folder'],
  ]) {
    expect(() => read(...args)).toThrow('Usage: npm run bench');
  }
});

test('a goal is met at its limit, and missed beyond it', () => {
  expect(judge({ lost: 0, recovered: 10.01, payments: 0.6 }).map(({ of, ok }) => [of, ok])).toEqual([
    ['B7a', true],
    ['B7a', false],
    ['B12', true],
  ]);
  expect(judge({ failedP99: Number.NaN })).toMatchObject([{ ok: false }]);
  expect(judge({}).length).toBe(0);
  expect(Object.keys(GOALS).length).toBeGreaterThan(20);
});

test('the longest gap counts from the start, in any order of arrivals', () => {
  expect(longestGap(100, [])).toBe(0);
  expect(longestGap(100, [160, 130, 150])).toBe(30);
  expect(longestGap(100, [101, 102, 190, 191])).toBe(88);
  expect(percentile([5, 1, 3], 0.5)).toBe(3);
});

test('a comparison has the figures that both commits have in one unit, and that are not 0: medians, and the ratios of each round', () => {
  const figures = (session: number, more?: string) =>
    new Map(
      ['B11 session', ...(more === undefined ? [] : [more])].map((name) => [name, { measured: session, unit: 'ms' }]),
    );
  const before = [figures(2), figures(4), figures(2)];
  const now = [figures(3, 'B12 new'), figures(4, 'B12 new'), figures(1, 'B12 new')];
  for (const one of [...before, ...now]) one.set('B7a lost', { measured: 0, unit: '' });
  for (const one of before) one.set('B12 payment', { measured: 20, unit: 'ms' });
  for (const one of now) one.set('B12 payment', { measured: 4, unit: '× baseline' });
  expect(compare(before, now)).toEqual([
    { Figure: 'B11 session', unit: 'ms', before: 2, now: 3, 'now / before': 1, lowest: 0.5, highest: 1.5 },
  ]);
});
