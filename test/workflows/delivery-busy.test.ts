import { busyPauseMs } from '../../workflows/delivery/busy.ts';

const TIMES = [1, 2, 3, 4, 5, 6, 7, 50, 2_000];

test('whoever is in the way is asked for ever more rarely, at most every 20 s, whatever the jitter before', () => {
  expect(TIMES.map((times) => busyPauseMs(times, 0) / 1_000)).toEqual([1, 2, 4, 8, 16, 20, 20, 20, 20]);
});

test('the jitter of a pause adds at most half of it: nobody waits longer than 30 s', () => {
  expect(TIMES.map((times) => busyPauseMs(times, 1) / 1_000)).toEqual([1.5, 3, 6, 12, 24, 30, 30, 30, 30]);
});
