import type { z } from 'zod';

import { DAY_MS } from '../../lib/dates.ts';
import { first, type Queryable } from '../../lib/db.ts';
import { AppError, found, invalid, invalidState } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { lock } from '../../lib/lock.ts';
import { paginateNewest, whereGiven } from '../../lib/paginate-newest.ts';
import type { Page } from '../../lib/pagination.ts';
import type { Environment } from '../../lib/scope.ts';
import type { UnitOfWork } from '../../outbox/record.ts';
import type { Channel } from './channel.ts';
import type { Maintenance, NewMaintenance } from './schema.ts';

export const MAINTENANCE_STATES = ['PLANNED', 'OPEN', 'OVER', 'CANCELLED'] as const;

/** A time in which a channel takes no new payments and withdrawals: `startsAt` is included, `endsAt` is not. */
export type MaintenanceWindow = Omit<
  z.output<typeof Maintenance>,
  'maintenanceId' | 'startsAt' | 'endsAt' | 'cancelledAt'
> & { id: string; startsAt: Date; endsAt: Date; cancelledAt: Date | null };

type NewWindow = z.output<typeof NewMaintenance> & Pick<MaintenanceWindow, 'channel' | 'createdBy'>;

const DAYS_MAX = 30;
const AHEAD_DAYS_MAX = 366;

/** All times are the database's, as where a window applies. */
const WITH_STATE = `(
  SELECT *, CASE WHEN cancelled_at <= starts_at THEN 'CANCELLED'
                 WHEN cancelled_at IS NOT NULL OR ends_at <= now() THEN 'OVER'
                 WHEN starts_at <= now() THEN 'OPEN' ELSE 'PLANNED' END AS state
  FROM channel_maintenance) maintenance`;

/**
 * Plans a maintenance window of a channel. Throws VALIDATION_ERROR for times that are over, too far ahead or too long, and
 * DUPLICATE_REFERENCE with the id of a window that it would overlap.
 */
export async function planMaintenance({ trx }: UnitOfWork, planned: NewWindow): Promise<MaintenanceWindow> {
  const { channel, environment, endsAt } = planned;
  await lock(trx, 'channel_maintenance', `${channel} ${environment}`);
  const { now } = found(await first<{ now: Date }>(trx, 'SELECT now()', {}), 'time');
  const startsAt = planned.startsAt ?? now;
  ensureTimes({ startsAt, endsAt }, now);
  const other = await first<{ id: string; startsAt: Date; endsAt: Date }>(
    trx,
    `SELECT id, starts_at, ends_at FROM channel_maintenance
     WHERE channel = :channel AND environment = :environment AND cancelled_at IS NULL AND ends_at > :startsAt
       AND starts_at < :endsAt
     ORDER BY starts_at LIMIT 1`,
    { channel, environment, startsAt, endsAt },
  );
  if (other) {
    const span = `${other.startsAt.toISOString()} to ${other.endsAt.toISOString()}`;
    const issue = `overlaps the maintenance ${other.id} of ${channel}, ${span}: cancel that one first, or choose another time`;
    const details = [{ field: 'startsAt', issue, code: 'overlaps' as const }];
    const existing = { maintenanceId: other.id };
    throw new AppError('DUPLICATE_REFERENCE', `The window ${issue}`, { details, existing });
  }
  const id = newId('mnt', now.getTime());
  await first(
    trx,
    `INSERT INTO channel_maintenance (id, channel, environment, starts_at, ends_at, reason, reason_am, created_by)
     VALUES (:id, :channel, :environment, coalesce(CAST(:startsAt AS timestamptz), now()), :endsAt, :reason, :reasonAm,
       :createdBy)`,
    // Of now() the microseconds count: a window without a start is open at once.
    { ...planned, id, startsAt: planned.startsAt ?? null, reasonAm: planned.reasonAm ?? null },
  );
  return findWindow(trx, id);
}

function ensureTimes({ startsAt, endsAt }: { startsAt: Date; endsAt: Date }, now: Date): void {
  if (startsAt < now) {
    const issue = `must not be in the past, before ${now.toISOString()}, got ${startsAt.toISOString()}`;
    throw invalid('startsAt', { issue, code: 'in_the_past' });
  }
  if (startsAt.getTime() > now.getTime() + AHEAD_DAYS_MAX * DAY_MS) {
    const issue = `must be at most ${AHEAD_DAYS_MAX} days ahead, got ${startsAt.toISOString()}`;
    throw invalid('startsAt', { issue, code: 'too_far_ahead', params: { maximum: AHEAD_DAYS_MAX } });
  }
  if (endsAt <= startsAt) {
    const issue = `must be after the start, ${startsAt.toISOString()}, got ${endsAt.toISOString()}`;
    throw invalid('endsAt', { issue, code: 'ends_before_start' });
  }
  if (endsAt.getTime() - startsAt.getTime() > DAYS_MAX * DAY_MS) {
    const issue = `must be at most ${DAYS_MAX} days after the start, ${startsAt.toISOString()}, got ${endsAt.toISOString()}`;
    throw invalid('endsAt', { issue, code: 'range_too_wide', params: { maximum: DAYS_MAX } });
  }
}

/** Cancels a window before its start, or ends it early. Idempotent. Throws NOT_FOUND, INVALID_STATE after its end. */
export async function cancelMaintenance(
  { trx }: UnitOfWork,
  { id, operatorId }: { id: string; operatorId: string },
): Promise<{ before: MaintenanceWindow; after: MaintenanceWindow }> {
  const changed = await first(
    trx,
    `UPDATE channel_maintenance SET cancelled_at = now(), cancelled_by = :operatorId
     WHERE id = :id AND cancelled_at IS NULL AND ends_at > now() RETURNING id`,
    { id, operatorId },
  );
  const after = await findWindow(trx, id);
  if (after.cancelledAt === null) {
    const issue = `The maintenance ${id} of ${after.channel} ended at ${after.endsAt.toISOString()}. Nothing is left to cancel.`;
    throw invalidState(issue);
  }
  if (!changed) return { before: after, after };
  const state = after.state === 'CANCELLED' ? 'PLANNED' : 'OPEN';
  return { before: { ...after, state, cancelledAt: null, cancelledBy: null }, after };
}

async function findWindow(db: Queryable, id: string): Promise<MaintenanceWindow> {
  const sql = `SELECT * FROM ${WITH_STATE} WHERE id = :id`;
  return found(await first<MaintenanceWindow>(db, sql, { id }), 'maintenance window');
}

/** Maintenance windows, the latest start first. */
export async function listMaintenance(
  db: Queryable,
  { channel, environment }: { channel?: Channel | undefined; environment?: Environment | undefined },
  page: Page,
) {
  const given = whereGiven({ channel, environment });
  return paginateNewest<MaintenanceWindow>(db, { table: WITH_STATE, time: 'starts_at', ...given }, page);
}

/** A window as operators see it. */
export function presentMaintenance({ id: maintenanceId, ...window }: MaintenanceWindow) {
  return { maintenanceId, ...window };
}
