import type { z } from 'zod';

import type { Clock } from '../lib/clock.ts';
import { addisDay, DAY_MS, isDay } from '../lib/dates.ts';
import { rows } from '../lib/db.ts';
import { invalid } from '../lib/errors.ts';
import type { Environment } from '../lib/scope.ts';
import { CHANNELS } from '../merchants/channels/channel.ts';
import type { UnitOfWork } from '../outbox/record.ts';
import type { FindProvider } from '../providers/provider.ts';
import type { DayToCompare } from './schema.ts';
import { requestMessage, reconciliationId, type ChannelDay } from './workflow.ts';

/** Yesterday and the days before it again: providers complete their statements late. */
const NIGHTLY_DAYS = 4;

const ENVIRONMENTS: readonly Environment[] = ['live', 'sandbox'];

type RequestRunDeps = { findProvider: FindProvider; clock: Clock };

/** Without a channel or environment: all that have a provider. */
type RunRequest = Omit<z.output<typeof DayToCompare>, 'reason'>;

/**
 * Requests the comparison of a day, again or for the first time; a comparison that is running starts again. Returns what was
 * requested. Throws VALIDATION_ERROR (no day, a day in the future, or no channel with a provider).
 */
export async function requestRun(tx: UnitOfWork, deps: RequestRunDeps, request: RunRequest): Promise<ChannelDay[]> {
  const { day } = request;
  const today = addisDay(deps.clock());
  if (!isDay(day) || day > today) {
    const issue = `must be a day until today (${today}) as YYYY-MM-DD, got ${JSON.stringify(day.slice(0, 40))}`;
    throw invalid('day', { issue, code: 'day_out_of_range', params: { latest: today } });
  }
  const days = providersOf(deps.findProvider, request).map((place) => ({ ...place, day }));
  if (days.length === 0) throw invalid('channel', 'must be one that has a provider in this environment');
  await enqueueRuns(tx, days, deps.clock());
  return days;
}

/** Requests the last {@link NIGHTLY_DAYS} days of every channel with a provider, as every night does. */
export async function requestLastDays(tx: UnitOfWork, { findProvider, clock }: RequestRunDeps): Promise<ChannelDay[]> {
  const nowMs = clock().getTime();
  const last = Array.from({ length: NIGHTLY_DAYS }, (_, ago) => addisDay(new Date(nowMs - (ago + 1) * DAY_MS)));
  const days = last.flatMap((day) => providersOf(findProvider, {}).map((place) => ({ ...place, day })));
  await enqueueRuns(tx, days, clock());
  return days;
}

function providersOf(findProvider: FindProvider, request: Pick<RunRequest, 'channel' | 'environment'>) {
  const environments = request.environment ? [request.environment] : ENVIRONMENTS;
  const channels = request.channel ? [request.channel] : CHANNELS;
  return environments
    .flatMap((environment) => channels.map((channel) => ({ environment, channel })))
    .filter(({ environment, channel }) => findProvider(channel, environment) !== null);
}

async function enqueueRuns(tx: UnitOfWork, days: readonly ChannelDay[], at: Date): Promise<void> {
  const requested = days.map((day) => ({ id: reconciliationId(day), ...day }));
  await rows(
    tx.trx,
    `INSERT INTO reconciliation (id, environment, channel, day, is_running, requested_at, requests)
     SELECT id, environment, channel, day, true, :at, 1
     FROM jsonb_to_recordset(CAST(:requested AS jsonb)) AS a (id text, environment text, channel text, day date)
     ORDER BY id
     ON CONFLICT (id) DO UPDATE SET is_running = true, requested_at = excluded.requested_at, requests = reconciliation.requests + 1`,
    { requested: JSON.stringify(requested), at },
  );
  await tx.enqueue(days.map(requestMessage));
}
