import { rows, type Knex } from '../lib/db.ts';
import { AppError, notFound } from '../lib/errors.ts';
import type { Environment } from '../lib/owner.ts';
import type { Channel, FindProvider, StatementRow, Unknown } from '../providers/provider.ts';

export type ReadDeps = { db: Knex; findProvider: FindProvider };

/** A reading of a day's list. */
export type Reading = { reconciliationId: string; reading: number };

/** What came of asking for a page. `unknown`: ask again. */
export type ReadPage = { kind: 'more' | 'end'; pages: number } | { kind: 'unknown'; reason: Unknown['reason'] };

/** Begins to read the day's list from its start, whatever was read of it before. Throws NOT_FOUND. */
export async function beginReading(db: Knex, reconciliationId: string, at: Date): Promise<Reading> {
  const [begun] = await rows<Reading>(
    db,
    `UPDATE reconciliation SET reading = reading + 1, cursor = NULL, pages = 0, begun_at = :at, open = true
     WHERE id = :reconciliationId RETURNING id AS reconciliation_id, reading`,
    { reconciliationId, at },
  );
  if (!begun) throw notFound('reconciliation');
  return begun;
}

type Place = {
  environment: Environment;
  channel: Channel;
  day: string;
  reading: number;
  read: number;
  cursor: string | null;
  pages: number;
};

/**
 * Asks the provider for the next page of its list and stores it, and where the one after it begins, in one statement:
 * whoever dies in between, the next call goes on there. Throws NOT_FOUND, INVALID_STATE (another reading has begun).
 */
export async function readNextPage(deps: ReadDeps, { reconciliationId, reading }: Reading): Promise<ReadPage> {
  const place = await findPlace(deps.db, reconciliationId);
  if (place.reading !== reading) throw new AppError('INVALID_STATE', `Reading ${reading} has been given up.`);
  if (place.read === reading) return { kind: 'end', pages: place.pages };
  const provider = deps.findProvider(place.channel, place.environment);
  if (!provider) return { kind: 'unknown', reason: 'network' };
  const page = await provider.statement(place.day, place.cursor);
  if (page.kind === 'unknown') return { kind: 'unknown', reason: page.reason };
  // A page that leads to itself would be read for ever.
  if ((page.next !== null && page.next === place.cursor) || !page.rows.every(isStorable)) {
    return { kind: 'unknown', reason: 'unreadable' };
  }
  const isStored = await storePage(deps.db, { reconciliationId, reading, cursor: place.cursor, ...page });
  // Who stored it before us may have heard of more pages: the next call says where the reading is.
  if (!isStored) return { kind: 'more', pages: place.pages };
  return { kind: page.next === null ? 'end' : 'more', pages: place.pages + 1 };
}

/** Begins the list anew without giving up what was read of it: for cursors that a provider takes no more. */
export async function rewind(db: Knex, { reconciliationId, reading }: Reading): Promise<void> {
  await rows(
    db,
    `UPDATE reconciliation SET cursor = NULL, pages = 0
     WHERE id = :reconciliationId AND reading = :reading AND read < reading`,
    { reconciliationId, reading },
  );
}

async function findPlace(db: Knex, id: string): Promise<Place> {
  const [place] = await rows<Place>(
    db,
    `SELECT environment, channel, CAST(day AS text) AS day, reading, read, cursor, pages FROM reconciliation WHERE id = :id`,
    { id },
  );
  if (!place) throw notFound('reconciliation');
  return place;
}

const TEXT_CHARACTERS_MAX = 200;

/** What no provider writes, and no column takes, is no row. */
function isStorable({ orderId, providerReference, currency, at }: StatementRow): boolean {
  const texts = [orderId, providerReference, currency];
  const isSound = texts.every((text) => text.length <= TEXT_CHARACTERS_MAX && !/\p{Cc}/u.test(text));
  const year = at.getUTCFullYear();
  return isSound && year >= 2000 && year < 2200;
}

type StoredPage = Reading & { rows: StatementRow[]; cursor: string | null; next: string | null };

/** False, and nothing stored, when the reading is not at this page any more. */
async function storePage(db: Knex, { reconciliationId, reading, cursor, ...page }: StoredPage): Promise<boolean> {
  const listed = page.rows.map(({ amountSantim, ...row }) => ({ ...row, amountSantim: String(amountSantim) }));
  const placed = await rows(
    db,
    `WITH placed AS (
       UPDATE reconciliation SET cursor = :next, pages = pages + 1,
         read = CASE WHEN CAST(:next AS text) IS NULL THEN reading ELSE read END,
         read_begun_at = CASE WHEN CAST(:next AS text) IS NULL THEN begun_at ELSE read_begun_at END
       WHERE id = :reconciliationId AND reading = :reading AND read < reading AND cursor IS NOT DISTINCT FROM :cursor
       RETURNING id
     ), stored AS (
       INSERT INTO statement_row (reconciliation_id, type, order_id, provider_reference, amount_santim, currency, at, reading)
       SELECT DISTINCT ON (l.type, l."orderId", l."providerReference")
              placed.id, l.type, l."orderId", l."providerReference", l."amountSantim", l.currency, l.at, :reading
       FROM placed, jsonb_to_recordset(CAST(:listed AS jsonb))
         AS l (type text, "orderId" text, "providerReference" text, "amountSantim" bigint, currency text, at timestamptz)
       ORDER BY l.type, l."orderId", l."providerReference"
       ON CONFLICT (reconciliation_id, type, order_id, provider_reference) DO UPDATE SET
         amount_santim = excluded.amount_santim, currency = excluded.currency, at = excluded.at, reading = excluded.reading
     )
     SELECT id FROM placed`,
    { reconciliationId, reading, cursor, next: page.next, listed: JSON.stringify(listed) },
  );
  return placed.length > 0;
}
