import { CHANNELS, type Channel } from '../channels/channel.ts';
import type { Clock } from '../lib/clock.ts';
import { COMMON_OPTIONS, runNoun, UsageError, type Shown, type Verb, type Write } from '../lib/command-line.ts';
import { addisDay, DAY_MS } from '../lib/dates.ts';
import type { Knex } from '../lib/db.ts';
import { formatBirr } from '../lib/money.ts';
import type { RunChange } from '../lib/outbox.ts';
import type { FindProvider } from '../providers/provider.ts';
import { askForDay } from './ask.ts';
import { listReconciledDays, type ReconciledDay } from './days.ts';

/** What --help prints. */
export const RECONCILE_USAGE = `meskot reconcile --day YYYY-MM-DD [--channel TELEBIRR | CBE_BIRR | AWASH]   has a day compared with the providers' lists
meskot reconcile                                                            how the last days stand
A worker compares it; ask again for how it stands. --json prints JSON.
`;

const OPTIONS = { ...COMMON_OPTIONS, day: { type: 'string' }, channel: { type: 'string' } } as const;
const COLUMNS = ['day', 'environment', 'channel', 'status', 'differences', 'listed', 'booked', 'owed', 'problem'];
const SHOWN_DAYS = 7;

export type ReconcileCommandDeps = {
  db: Knex;
  runChange: RunChange;
  findProvider: FindProvider;
  clock: Clock;
  write: Write;
};

/** Runs `meskot reconcile …`; `args` without the two words. Exit code: 0 done, 2 wrong usage. */
export async function runReconcileCommand(args: readonly string[], deps: ReconcileCommandDeps): Promise<number> {
  const verbs = new Map([['', reconcile(deps)]]);
  return runNoun(
    { name: 'reconcile', usage: RECONCILE_USAGE, options: OPTIONS, verbs, columns: COLUMNS, write: deps.write },
    args,
  );
}

const reconcile =
  (deps: ReconcileCommandDeps): Verb<typeof OPTIONS> =>
  async ({ options }) => {
    const { day } = options;
    const channel = readChannel(options.channel);
    if (day !== undefined) await deps.runChange((change) => askForDay(change, deps, { day, channel }));
    const endDate = day ?? addisDay(deps.clock());
    const startDate = day ?? addisDay(new Date(deps.clock().getTime() - (SHOWN_DAYS - 1) * DAY_MS));
    return (await listReconciledDays(deps.db, { startDate, endDate, channel })).map(present);
  };

function readChannel(text: string | undefined): Channel | undefined {
  if (text === undefined) return undefined;
  const channel = CHANNELS.find((one) => one === text);
  if (!channel) throw new UsageError(`--channel must be one of ${CHANNELS.join(', ')}, got "${text}".`);
  return channel;
}

/** `listed` and `booked`: orders, all ways the money went; `owed`: birr, by the ledger at the day's end. */
function present({ environment, channel, day, status, open, differences, problem, ...row }: ReconciledDay): Shown {
  return {
    day,
    environment,
    channel,
    status: open ? 'being compared' : status,
    differences,
    listed: countOf(row.theirs),
    booked: countOf(row.ours),
    owed: row.clearingSantim === null ? null : birr(row.clearingSantim),
    comparedAt: row.comparedAt?.toISOString() ?? null,
    problem,
  };
}

function countOf(sums: ReconciledDay['theirs']): number | null {
  return sums && sums.payments.count + sums.payouts.count + sums.reversals.count;
}

function birr(santim: bigint): string {
  return santim < 0n ? `-${formatBirr(-santim)}` : formatBirr(santim);
}
