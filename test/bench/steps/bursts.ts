import { inFixture, type Bench, type Fixture } from '../fixture.ts';
import { DELIVERED_BEFORE, ONE_LIVE_ROW, pastDeliveries } from '../history.ts';
import { burstRow, measureBurst, type Burst, type Subject } from '../measure.ts';
import { median } from '../numbers.ts';
import { release, subjectOfOurs, subjectOfBaseline } from '../subjects.ts';

/** Warm-up bursts until V8 has compiled the hot code in each process; they also leave dead rows. */
const WARM_UP = 2_000;
/** The number of our bursts per burst of the baseline. */
const TURN = 4;

/** The state of the statistics before the bursts. Autovacuum is on, as by default. */
const TABLES = {
  bloated: {
    title: 'statistics of one live row and 2,000 dead ones, before each burst',
    prepare: async () => {},
    beforeEach: (fixture: Fixture) => fixture.asOwner(...ONE_LIVE_ROW),
  },
  grown: {
    title: `after ${DELIVERED_BEFORE} earlier events`,
    prepare: async (fixture: Fixture) => {
      const { merchantId } = await fixture.newMerchant();
      await fixture.asOwner(pastDeliveries(merchantId), 'VACUUM ANALYZE');
    },
    beforeEach: async () => {},
  },
} as const;

/**
 * Bursts of 2,000 events, twelve in succession, in mode "failed": with bad and good statistics, to few and to many
 * subscriptions.
 */
export async function bursts(bench: Bench): Promise<void> {
  const count = bench.size(2_000, 200);
  const row = bench.sheet.table(`Bursts of ${count} test events published through the API, mode "failed"`);
  const worst = { cpu: -Infinity, rate: Infinity, stall: -Infinity };
  for (const [state, { title }] of Object.entries(TABLES)) {
    for (const subscriptions of [1, 10, 500]) {
      bench.say(`bursts, ${title}, to ${subscriptions} subscriptions`);
      const [ours, baselines] = await inFixture(bench, (fixture) =>
        measureTurns(bench, fixture, { count, subscriptions, state: state as keyof typeof TABLES }),
      );
      row({ tables: state, subscriptions, who: 'Meskot', ...burstRow(ours) });
      row({ tables: state, subscriptions, who: 'bare baseline', ...burstRow(baselines) });
      const cpuOf = (all: Burst[]): number => median(all.map((burst) => burst.cpu.total));
      const rateOf = (all: Burst[]): number => median(all.map((burst) => burst.perSecond));
      worst.cpu = Math.max(worst.cpu, cpuOf(ours) / cpuOf(baselines));
      worst.rate = Math.min(worst.rate, rateOf(ours) / rateOf(baselines));
      worst.stall = Math.max(worst.stall, ...ours.map((burst) => burst.stallMs));
      bench.sheet.measured('burstCpu', worst.cpu);
      bench.sheet.measured('burstRate', worst.rate);
      bench.sheet.measured('stall', worst.stall);
    }
  }
}

type Wanted = { count: number; subscriptions: number; state: keyof typeof TABLES };

async function measureTurns(
  bench: Bench,
  fixture: Fixture,
  { count, subscriptions, state }: Wanted,
): Promise<[ours: Burst[], baselines: Burst[]]> {
  const { prepare, beforeEach } = TABLES[state];
  const [api, worker, baseline] = [
    await fixture.startApi(),
    await fixture.startWorker(),
    await fixture.startBaseline(),
  ];
  const ours = (await subjectOfOurs(fixture, { api, count: subscriptions })).with('Meskot', worker);
  const bare = await subjectOfBaseline(fixture, { baseline, count: subscriptions });
  const measured: [Burst[], Burst[]] = [[], []];
  const burst = async (subject: Subject, into: Burst[]): Promise<void> => {
    await beforeEach(fixture);
    const one = await measureBurst(bench.stack, subject, count);
    into.push(one);
    const words = `${Math.round(one.perSecond)}/s, ${one.cpu.total.toFixed(2)} ms, gap ${Math.round(one.stallMs)} ms`;
    bench.say(`  ${subject.name}: ${words}`);
  };
  try {
    await prepare(fixture);
    for (const subject of [ours, bare]) await measureBurst(bench.stack, subject, bench.size(WARM_UP, count));
    for (let number = 1; number <= bench.size(12, TURN); number += 1) {
      await burst(ours, measured[0]);
      if (number % TURN === 0) await burst(bare, measured[1]);
    }
  } finally {
    await release(ours, bare);
  }
  return measured;
}
