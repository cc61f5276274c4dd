import type { Clock } from '../../lib/clock.ts';
import { COMMON_OPTIONS, runNoun, UsageError, type Row, type Verb, type Write } from '../../lib/command-line.ts';
import { addisDay, DAY_MS } from '../../lib/dates.ts';
import type { Database } from '../../lib/db.ts';
import { formatBirr } from '../../lib/money.ts';
import { CHANNELS, type Channel } from '../../merchants/channels/channel.ts';
import type { RunRequest } from '../../reconciliation/request.ts';
import { listReconciledDays, type ReconciledDay } from '../../reconciliation/runs.ts';

/** What --help prints. */
export const RECONCILE_USAGE = `meskot reconcile --day YYYY-MM-DD [--channel TELEBIRR | CBE_BIRR | AWASH] [--reason TEXT]
                   has a day compared with the providers' lists, again or for the first time
meskot reconcile   how the last days stand
A worker compares it; ask again for how it stands. --operator opr_… says who asks, which is noted; on a machine with demo
data its operator does. What is live is compared, and listed, only with --live. --json prints JSON.
`;

const OPTIONS = {
  ...COMMON_OPTIONS,
  day: { type: 'string' },
  channel: { type: 'string' },
  reason: { type: 'string' },
  operator: { type: 'string' },
  live: { type: 'boolean' },
} as const;
const COLUMNS = ['day', 'environment', 'channel', 'status', 'differences', 'listed', 'booked', 'owed', 'problem'];
const SHOWN_DAYS = 7;

export type ReconcileCommandDeps = {
  db: Database;
  clock: Clock;
  /** Requests a day as the operator who was named, or that of the demo data. Throws unless they have the permission. */
  requestReconciliation: (
    wanted: RunRequest & { reason?: string | undefined },
    by: { operator?: string },
  ) => Promise<unknown>;
  write: Write;
};

/** Runs `meskot reconcile …`; `args` without the two words. Exit codes: src/lib/command-line.ts. */
export async function runReconcileCommand(args: readonly string[], deps: ReconcileCommandDeps): Promise<number> {
  const verbs = new Map([['', reconcile(deps)]]);
  return runNoun(
    { name: 'reconcile', usage: RECONCILE_USAGE, options: OPTIONS, verbs, columns: COLUMNS, write: deps.write },
    args,
  );
}

const reconcile =
  ({ db, clock, requestReconciliation }: ReconcileCommandDeps): Verb<typeof OPTIONS> =>
  async ({ options }) => {
    const { day, operator, reason } = options;
    const channel = readChannel(options.channel);
    const environment = options.live ? 'live' : 'sandbox';
    if (day !== undefined) {
      await requestReconciliation({ day, channel, environment, reason }, operator === undefined ? {} : { operator });
    }
    const endDate = day ?? addisDay(clock());
    const startDate = day ?? addisDay(new Date(clock().getTime() - (SHOWN_DAYS - 1) * DAY_MS));
    return (await listReconciledDays(db, { startDate, endDate, environment, channel })).map(present);
  };

function readChannel(text: string | undefined): Channel | undefined {
  if (text === undefined) return undefined;
  const channel = CHANNELS.find((one) => one === text);
  if (!channel) throw new UsageError(`--channel must be one of ${CHANNELS.join(', ')}, got "${text}".`);
  return channel;
}

/** `listed` and `booked`: orders, all ways the money went; `owed`: birr, by the ledger at the day's end. */
function present({ environment, channel, day, status, isRunning, differences, error, ...row }: ReconciledDay): Row {
  return {
    day,
    environment,
    channel,
    status: isRunning ? 'being compared' : status,
    differences,
    listed: countOf(row.listed),
    booked: countOf(row.booked),
    owed: row.clearingSantim === null ? null : birr(row.clearingSantim),
    comparedAt: row.comparedAt?.toISOString() ?? null,
    problem: error,
  };
}

function countOf(sums: ReconciledDay['listed']): number | null {
  return sums && sums.payments.count + sums.payouts.count + sums.reversals.count;
}

function birr(santim: bigint): string {
  return santim < 0n ? `-${formatBirr(-santim)}` : formatBirr(santim);
}
