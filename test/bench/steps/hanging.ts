import { setTimeout as sleep } from 'node:timers/promises';

import { inFixture, type Bench, type Fixture } from '../fixture.ts';
import { measureBurst, measureSteady, steadyRow, type Subject } from '../measure.ts';
import { startHangingReceiver } from '../receiver.ts';
import { publishTo, release, subjectOfOurs, subscribe } from '../subjects.ts';

const GOOD_PER_SECOND = 50;
const HANGING_PER_SECOND = 200;
/** Longer than the timeout of a send: the number of hanging requests is then at its maximum. */
const LEAD_SECONDS = 8;

/** A healthy endpoint alone, and beside endpoints that never respond: one, then 60 of them. */
export async function hanging(bench: Bench): Promise<void> {
  const row = bench.sheet.table(
    `A good endpoint at ${GOOD_PER_SECOND}/s, alone and beside hanging ones at ${HANGING_PER_SECOND}/s in all`,
  );
  for (const [count, goal] of [
    [1, 'besideOne'],
    [60, 'besideMany'],
  ] as const) {
    bench.say(`a good endpoint beside ${count} that hang`);
    const { alone, beside, most } = await inFixture(bench, (fixture) => measureBeside(bench, fixture, count));
    row({ beside: 'none', ...steadyRow(alone), hanging: 0 });
    row({ beside: `${count} that hang`, ...steadyRow(beside), hanging: most });
    bench.sheet.measured(goal, beside.p99 / alone.p99);
  }
}

async function measureBeside(bench: Bench, fixture: Fixture, count: number) {
  const { stack, size } = bench;
  const [api, worker] = [await fixture.startApi(), await fixture.startWorker()];
  const ours = await subjectOfOurs(fixture, { api, count: 1 });
  // Hanging endpoints never become idle.
  const good: Subject = { ...ours.with('a good endpoint', worker), isQuiet: 'true' };
  const bad = await startHangingReceiver();
  const flood = publishTo(api.origin, await subscribe({ ...fixture, ...api }, { count, url: bad.url }));
  let most = 0;
  const watching = setInterval(() => (most = Math.max(most, bad.hanging())), 50);
  try {
    const rate = { perSecond: GOOD_PER_SECOND, seconds: size(30, 6) };
    await measureBurst(stack, good, size(2_000, 200));
    const alone = await measureSteady(stack, good, rate);
    const flooding = flood.steady(HANGING_PER_SECOND, LEAD_SECONDS + rate.seconds);
    // Reported below, when it is awaited.
    flooding.catch(() => {});
    await sleep(LEAD_SECONDS * 1_000);
    const beside = await measureSteady(stack, good, rate);
    await flooding;
    return { alone, beside, most };
  } finally {
    clearInterval(watching);
    await Promise.all([release(ours), flood.close(), bad.close()]);
  }
}
