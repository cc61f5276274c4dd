import { inFixture, untilTrue, type Bench } from '../fixture.ts';
import { measureBurst } from '../measure.ts';
import { median } from '../numbers.ts';
import { release, subjectOfOurs } from '../subjects.ts';

const DRAINED_WITHIN_MS = 120_000;

/** The throughput of one healthy endpoint: a worker drains the deliveries that accumulated while it was frozen. */
export async function endpoint(bench: Bench): Promise<void> {
  await inFixture(bench, async (fixture) => {
    const count = bench.size(5_000, 500);
    const row = bench.sheet.table(`One healthy endpoint, ${count} events waiting`);
    const [api, worker] = [await fixture.startApi(), await fixture.startWorker()];
    const ours = (await subjectOfOurs(fixture, { api, count: 1 })).with('Meskot', worker);
    const { receiver, publish } = ours;
    const rates: number[] = [];
    try {
      await measureBurst(bench.stack, ours, bench.size(2_000, 200));
      for (let round = 1; round <= bench.size(3, 1); round += 1) {
        receiver.forget();
        process.kill(worker.pid, 'SIGSTOP');
        await publish.burst(count).finally(() => process.kill(worker.pid, 'SIGCONT'));
        await receiver.untilArrived(count, DRAINED_WITHIN_MS);
        await untilTrue(fixture.db, ours.isQuiet, DRAINED_WITHIN_MS);
        const arrivals = [...receiver.arrivals.values()];
        const perSecond = (1_000 * (count - 1)) / (Math.max(...arrivals) - Math.min(...arrivals));
        bench.say(`${Math.round(perSecond)}/s`);
        row({ round, 'delivered/s': perSecond, duplicates: receiver.duplicates() });
        rates.push(perSecond);
      }
      bench.sheet.measured('endpoint', median(rates));
    } finally {
      await release(ours);
    }
  });
}
