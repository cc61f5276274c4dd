import { CHANNELS, type Channel } from '../channels/channel.ts';
import type { Clock } from '../lib/clock.ts';
import { addisDay, DAY_MS, isDay } from '../lib/dates.ts';
import { rows } from '../lib/db.ts';
import { AppError } from '../lib/errors.ts';
import type { Change } from '../lib/outbox.ts';
import type { Environment } from '../lib/owner.ts';
import type { FindProvider } from '../providers/provider.ts';
import { askMessage, reconciliationId, type ChannelDay } from './workflow-input.ts';

/** Yesterday, and again the days before it: providers complete their lists late. */
const NIGHTLY_DAYS = 4;

const ENVIRONMENTS: readonly Environment[] = ['live', 'sandbox'];

type AskDeps = { findProvider: FindProvider; clock: Clock };

/** Which days to compare; without a channel or environment all that have a provider. */
export type Wanted = {
  /** YYYY-MM-DD in Addis Ababa, today at the latest. */
  day: string;
  channel?: Channel | undefined;
  environment?: Environment | undefined;
};

/**
 * Asks for a day to be compared, again or for the first time; while its comparison runs, that one begins anew. Returns
 * what was asked for. Throws VALIDATION_ERROR (no day, one to come, or nothing has a provider there).
 */
export async function askForDay(change: Change, deps: AskDeps, wanted: Wanted): Promise<ChannelDay[]> {
  const { day } = wanted;
  const today = addisDay(deps.clock());
  if (!isDay(day) || day > today) {
    throw refused('day', `must be a day until today (${today}) as YYYY-MM-DD, got ${JSON.stringify(day.slice(0, 40))}`);
  }
  const days = providersOf(deps.findProvider, wanted).map((place) => ({ ...place, day }));
  if (days.length === 0) throw refused('channel', 'must be one that has a provider in this environment');
  await ask(change, days, deps.clock());
  return days;
}

/** What every night asks for: the last {@link NIGHTLY_DAYS} days of every channel with a provider. */
export async function askForLastDays(change: Change, { findProvider, clock }: AskDeps): Promise<ChannelDay[]> {
  const nowMs = clock().getTime();
  const last = Array.from({ length: NIGHTLY_DAYS }, (_, ago) => addisDay(new Date(nowMs - (ago + 1) * DAY_MS)));
  const days = last.flatMap((day) => providersOf(findProvider, {}).map((place) => ({ ...place, day })));
  await ask(change, days, clock());
  return days;
}

function providersOf(findProvider: FindProvider, wanted: Pick<Wanted, 'channel' | 'environment'>) {
  return ENVIRONMENTS.flatMap((environment) => CHANNELS.map((channel) => ({ environment, channel }))).filter(
    ({ environment, channel }) =>
      (wanted.channel ?? channel) === channel &&
      (wanted.environment ?? environment) === environment &&
      findProvider(channel, environment) !== null,
  );
}

async function ask(change: Change, days: readonly ChannelDay[], at: Date): Promise<void> {
  const asked = days.map((day) => ({ id: reconciliationId(day), ...day }));
  await rows(
    change.trx,
    `INSERT INTO reconciliation (id, environment, channel, day, open, asked_at, asks)
     SELECT id, environment, channel, day, true, :at, 1
     FROM jsonb_to_recordset(CAST(:asked AS jsonb)) AS a (id text, environment text, channel text, day date)
     ORDER BY id
     ON CONFLICT (id) DO UPDATE SET open = true, asked_at = excluded.asked_at, asks = reconciliation.asks + 1`,
    { asked: JSON.stringify(asked), at },
  );
  await change.tell(days.map(askMessage));
}

function refused(field: string, issue: string): AppError {
  return new AppError('VALIDATION_ERROR', `${field} ${issue}.`, { details: [{ field, issue }] });
}
