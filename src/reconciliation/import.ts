import { rows, type Knex } from '../lib/db.ts';
import { AppError, notFound } from '../lib/errors.ts';
import type { Environment } from '../lib/scope.ts';
import type { Channel } from '../merchants/channels/channel.ts';
import type { FindProvider, StatementPage, StatementRow, Unknown } from '../providers/provider.ts';

export type ReadDeps = { db: Knex; findProvider: FindProvider };

/** A reading of a day's list. */
export type Import = { reconciliationId: string; importNo: number };

/**
 * What came of asking for a page. `unknown`: ask again. `endless`: do not, its pages lead in a circle or are more than
 * any day has. The row says what the problem is, for operators.
 */
export type ReadPage =
  | { kind: 'more' | 'end'; pages: number }
  | { kind: 'unknown'; reason: Unknown['reason'] }
  | { kind: 'endless' };

/** A million orders at 50 a page. */
const PAGES_MAX = 20_000;

/** Begins to read the day's list from its start, whatever was read of it before. Throws NOT_FOUND. */
export async function startImport(db: Knex, reconciliationId: string, at: Date): Promise<Import> {
  const [begun] = await rows<Import>(
    db,
    `UPDATE reconciliation SET import_no = import_no + 1, cursor = NULL, loop_guard = NULL, pages = 0, error = NULL,
       import_started_at = :at, requests_at_start = requests, is_running = true
     WHERE id = :reconciliationId RETURNING id AS reconciliation_id, import_no`,
    { reconciliationId, at },
  );
  if (!begun) throw notFound('reconciliation');
  return begun;
}

type ImportState = {
  id: string;
  environment: Environment;
  channel: Channel;
  day: string;
  importNo: number;
  completedImportNo: number;
  cursor: string | null;
  /** That of an earlier page: ever later ones, so that in the end any circle comes back to it. */
  loopGuard: string | null;
  pages: number;
};

/**
 * Asks the provider for the next page of its list and stores it, and where the one after it begins, in one statement:
 * whoever dies in between, the next call goes on there. Throws NOT_FOUND, INVALID_STATE (another reading has begun).
 */
export async function importNextPage(deps: ReadDeps, { reconciliationId, importNo }: Import): Promise<ReadPage> {
  const place = await findPlace(deps.db, reconciliationId);
  if (place.importNo !== importNo) throw new AppError('INVALID_STATE', `Reading ${importNo} has been given up.`);
  if (place.completedImportNo === importNo) return { kind: 'end', pages: place.pages };
  const nth = place.pages + 1;
  if (nth > PAGES_MAX) {
    return { kind: await stop(deps.db, place, `the list has more than ${PAGES_MAX} pages`) };
  }
  const page = await queryPage(deps, place);
  if (page.kind === 'unknown') {
    await noteProblem(deps.db, place, `page ${nth} of the list was not given (${page.reason}): ${page.message}`);
    return { kind: 'unknown', reason: page.reason };
  }
  if (page.next !== null && page.next === place.loopGuard) {
    return { kind: await stop(deps.db, place, `the list has no end: page ${nth} leads back to an earlier one`) };
  }
  const isStored = await storePage(deps.db, { reconciliationId, importNo: importNo, cursor: place.cursor, ...page });
  // Who stored it before us may have heard of more pages: the next call says where the reading is.
  if (!isStored) return { kind: 'more', pages: place.pages };
  return { kind: page.next === null ? 'end' : 'more', pages: place.pages + 1 };
}

async function queryPage({ findProvider }: ReadDeps, place: ImportState): Promise<StatementPage | Unknown> {
  const unknown = (reason: Unknown['reason'], message: string): Unknown => ({ kind: 'unknown', reason, message });
  const provider = findProvider(place.channel, place.environment);
  if (!provider) return unknown('network', `no provider is configured for ${place.channel}`);
  const page = await provider.statement(place.day, place.cursor);
  if (page.kind === 'unknown') return page;
  // A page that leads to itself would be read for ever.
  if (page.next !== null && page.next === place.cursor) return unknown('unreadable', 'it leads to itself');
  const strange = page.rows.findIndex((row) => !isStorable(row));
  return strange < 0 ? page : unknown('unreadable', `its row ${strange + 1} is not as agreed`);
}

async function stop(db: Knex, place: ImportState, problem: string): Promise<'endless'> {
  await noteProblem(db, place, problem);
  return 'endless';
}

async function noteProblem(db: Knex, { id, importNo }: ImportState, problem: string): Promise<void> {
  await rows(db, 'UPDATE reconciliation SET error = :problem WHERE id = :id AND import_no = :reading', {
    id,
    reading: importNo,
    problem: storableProblem(problem),
  });
}

const PROBLEM_CHARACTERS_MAX = 300;

/** What others have written, as a column takes it. */
export function storableProblem(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, ' ').slice(0, PROBLEM_CHARACTERS_MAX);
}

/** Begins the list anew without giving up what was read of it: for cursors that a provider takes no more. */
export async function rewind(db: Knex, { reconciliationId, importNo }: Import): Promise<void> {
  await rows(
    db,
    `UPDATE reconciliation SET cursor = NULL, loop_guard = NULL, pages = 0
     WHERE id = :reconciliationId AND import_no = :reading AND completed_import_no < import_no`,
    { reconciliationId, reading: importNo },
  );
}

async function findPlace(db: Knex, id: string): Promise<ImportState> {
  const [place] = await rows<ImportState>(
    db,
    `SELECT id, environment, channel, CAST(day AS text) AS day, import_no, completed_import_no, cursor, loop_guard, pages
     FROM reconciliation WHERE id = :id`,
    { id },
  );
  if (!place) throw notFound('reconciliation');
  return place;
}

const TEXT_CHARACTERS_MAX = 200;

/** A hundred billion birr. */
const AMOUNT_SANTIM_MAX = 10_000_000_000_000n;

/** What no provider writes, and no column takes, is no row. */
function isStorable({ orderId, providerReference, currency, amountSantim, at }: StatementRow): boolean {
  const texts = [orderId, providerReference, currency];
  const isSound = texts.every((text) => text.length <= TEXT_CHARACTERS_MAX && !/\p{Cc}/u.test(text));
  const year = at.getUTCFullYear();
  return isSound && amountSantim >= 0n && amountSantim <= AMOUNT_SANTIM_MAX && year >= 2000 && year < 2200;
}

type StoredPage = Import & { rows: StatementRow[]; cursor: string | null; next: string | null };

/** False, and nothing stored, when the reading is not at this page any more. */
async function storePage(db: Knex, { reconciliationId, importNo, cursor, ...page }: StoredPage): Promise<boolean> {
  const listed = page.rows.map(({ amountSantim, ...row }) => ({ ...row, amountSantim: String(amountSantim) }));
  const placed = await rows(
    db,
    `WITH placed AS (
       UPDATE reconciliation SET cursor = :next, pages = pages + 1, error = NULL,
         loop_guard = CASE WHEN (pages + 1) & pages = 0 THEN :next ELSE loop_guard END,
         completed_import_no = CASE WHEN CAST(:next AS text) IS NULL THEN import_no ELSE completed_import_no END,
         last_import_started_at = CASE WHEN CAST(:next AS text) IS NULL THEN import_started_at ELSE last_import_started_at END,
         first_import_started_at = CASE
           WHEN CAST(:next AS text) IS NULL AND import_started_at >= CAST(day + 1 AS timestamp) AT TIME ZONE 'Africa/Addis_Ababa'
           THEN coalesce(first_import_started_at, import_started_at) ELSE first_import_started_at END
       WHERE id = :reconciliationId AND import_no = :reading AND completed_import_no < import_no AND cursor IS NOT DISTINCT FROM :cursor
       RETURNING id
     ), stored AS (
       INSERT INTO statement_row (reconciliation_id, type, order_id, provider_reference, amount_santim, currency, occurred_at, import_no)
       SELECT DISTINCT ON (l.type, l."orderId", l."providerReference", l."amountSantim", l.currency)
              placed.id, l.type, l."orderId", l."providerReference", l."amountSantim", l.currency, l.at, :reading
       FROM placed, jsonb_to_recordset(CAST(:listed AS jsonb))
         AS l (type text, "orderId" text, "providerReference" text, "amountSantim" bigint, currency text, at timestamptz)
       ORDER BY l.type, l."orderId", l."providerReference", l."amountSantim", l.currency
       ON CONFLICT (reconciliation_id, type, order_id, provider_reference, amount_santim, currency) DO UPDATE SET
         occurred_at = excluded.occurred_at, import_no = excluded.import_no
     )
     SELECT id FROM placed`,
    { reconciliationId, reading: importNo, cursor, next: page.next, listed: JSON.stringify(listed) },
  );
  return placed.length > 0;
}
