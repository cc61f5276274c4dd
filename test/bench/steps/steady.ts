import { inFixture, type Bench, type Fixture } from '../fixture.ts';
import { measureBurst, measureSteady, steadyRow, type Rate, type Steady, type Subject } from '../measure.ts';
import { release, subjectOfOurs, subjectOfBaseline } from '../subjects.ts';

const SUBSCRIPTIONS = 10;

/** The time from commit to arrival at steady rates, in both modes, compared with the baseline. */
export async function steady(bench: Bench): Promise<void> {
  await inFixture(bench, (fixture) => measureAll(bench, fixture));
}

async function measureAll(bench: Bench, fixture: Fixture): Promise<void> {
  const { sheet, size } = bench;
  const row = sheet.table('Test events at a steady rate: commit to arrival');
  const [api, baseline] = [await fixture.startApi(), await fixture.startBaseline()];
  const ours = await subjectOfOurs(fixture, { api, count: SUBSCRIPTIONS });
  const bare = await subjectOfBaseline(fixture, { baseline, count: SUBSCRIPTIONS });
  const at = async (subject: Subject, perSecond: number): Promise<Steady> => {
    const rate: Rate = { perSecond, seconds: size(20, 4) };
    bench.say(`${subject.name} at ${perSecond}/s, ${rate.seconds} s`);
    const measured = await measureSteady(bench.stack, subject, rate);
    row({ who: subject.name, 'events/s': perSecond, ...steadyRow(measured) });
    return measured;
  };
  const both = async (subject: Subject): Promise<[Steady, Steady]> => {
    await measureBurst(bench.stack, subject, size(1_000, 100));
    return [await at(subject, 100), await at(subject, 200)];
  };
  const inMode = async (mode: 'failed' | 'every'): Promise<[Steady, Steady]> => {
    const worker = await fixture.startWorker({ WEBHOOK_WORKFLOWS: mode });
    try {
      return await both(ours.inMode(mode, worker));
    } finally {
      await worker.stop();
    }
  };
  try {
    const failed = await inMode('failed');
    const [baselines] = await both(bare);
    sheet.measured('failedP50', failed[0].p50 / baselines.p50);
    sheet.measured('failedP99', failed[0].p99 / baselines.p99);
    const every = await inMode('every');
    sheet.measured('everyP50', every[0].p50 / failed[0].p50);
    sheet.measured('everyP99', every[0].p99 / failed[0].p99);
    sheet.measured('everyP50Fast', every[1].p50 / failed[1].p50);
    sheet.measured('everyP99Fast', every[1].p99 / failed[1].p99);
  } finally {
    await release(ours, bare);
  }
}
