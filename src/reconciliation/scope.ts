import { endOfAddisDay, startOfAddisDay } from '../lib/dates.ts';
import { rows, type Queryable } from '../lib/db.ts';
import { notFound } from '../lib/errors.ts';
import type { Environment } from '../lib/scope.ts';
import type { Channel } from '../merchants/channels/channel.ts';

/** What a comparison looks at. */
export type Scope = {
  reconciliationId: string;
  environment: Environment;
  channel: Channel;
  /** The last complete reading: its rows count. */
  completedImportNo: number;
  startsAt: Date;
  endsAt: Date;
  /** Whether the lists of the day before and after were ever read. */
  knowsBefore: boolean;
  knowsAfter: boolean;
  /** The channel's clearing account and its first entry; null while nothing was ever booked there. */
  accountId: bigint | null;
  firstEntryAt: Date | null;
};

/** Throws NOT_FOUND. */
export async function readScope(db: Queryable, reconciliationId: string): Promise<Scope> {
  const [found] = await rows<Omit<Scope, 'startsAt' | 'endsAt'> & { day: string }>(
    db,
    `SELECT r.id AS reconciliation_id, r.environment, r.channel, CAST(r.day AS text) AS day, r.completed_import_no, c.id AS account_id,
            (SELECT e.effective_at FROM ledger_entry e WHERE e.account_id = c.id ORDER BY e.effective_at LIMIT 1) AS first_entry_at,
            EXISTS (SELECT FROM reconciliation b WHERE b.environment = r.environment AND b.channel = r.channel
                    AND b.day = r.day - 1 AND b.completed_import_no > 0) AS knows_before,
            EXISTS (SELECT FROM reconciliation b WHERE b.environment = r.environment AND b.channel = r.channel
                    AND b.day = r.day + 1 AND b.completed_import_no > 0) AS knows_after
     FROM reconciliation r
     LEFT JOIN ledger_account c
       ON c.environment = r.environment AND c.currency = 'ETB' AND c.kind = 'CHANNEL_CLEARING' AND c.channel = r.channel
     WHERE r.id = :reconciliationId`,
    { reconciliationId },
  );
  if (!found) throw notFound('reconciliation');
  const { day, ...scope } = found;
  return { ...scope, startsAt: startOfAddisDay(day), endsAt: endOfAddisDay(day) };
}
