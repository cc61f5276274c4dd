import { type Database, first, rows } from '../lib/db.ts';
import { AppError, found } from '../lib/errors.ts';
import type { FindProvider, StatementPage, StatementRow, Unknown } from '../providers/provider.ts';
import type { ChannelDay } from './workflow.ts';

export type ImportDeps = { db: Database; findProvider: FindProvider };

/** One import of the statement of a day. */
export type Import = { reconciliationId: string; importNo: number };

/**
 * The result of importing a page. `unknown`: retry. `endless`: do not retry, since its pages form a circle or are more than
 * any day has. The row contains the error, for operators.
 */
export type ImportedPage =
  | { kind: 'more' | 'end'; pages: number }
  | { kind: 'unknown'; reason: Unknown['reason'] }
  | { kind: 'endless' };

/** A million orders at 50 a page. */
const PAGES_MAX = 20_000;

/** Starts another import of the statement from its first page. Throws NOT_FOUND. */
export async function startImport(db: Database, reconciliationId: string, at: Date): Promise<Import> {
  const started = await first<Import>(
    db,
    `UPDATE reconciliation SET import_no = import_no + 1, cursor = NULL, loop_guard = NULL, pages = 0, error = NULL,
       import_started_at = :at, requests_at_start = requests, is_running = true
     WHERE id = :reconciliationId RETURNING id AS reconciliation_id, import_no`,
    { reconciliationId, at },
  );
  return found(started, 'reconciliation');
}

type ImportState = ChannelDay & {
  id: string;
  importNo: number;
  completedImportNo: number;
  cursor: string | null;
  /** The cursor of an earlier page, moved forward at pages 1, 2, 4, 8 …: any circle returns to it in the end. */
  loopGuard: string | null;
  pages: number;
};

/**
 * Fetches the next page of the provider's statement, and stores its rows and the cursor of the page after it in one SQL
 * statement, so that the next call continues after a crash. Throws NOT_FOUND, INVALID_STATE (a later import has started).
 */
export async function importNextPage(deps: ImportDeps, { reconciliationId, importNo }: Import): Promise<ImportedPage> {
  const sql = 'SELECT * FROM reconciliation WHERE id = :reconciliationId';
  const state = found(await first<ImportState>(deps.db, sql, { reconciliationId }), 'reconciliation');
  if (state.importNo !== importNo)
    throw new AppError('INVALID_STATE', `Import ${importNo} was superseded by a later one.`);
  if (state.completedImportNo === importNo) return { kind: 'end', pages: state.pages };
  const nth = state.pages + 1;
  if (nth > PAGES_MAX) {
    await recordError(deps.db, state, `the statement has more than ${PAGES_MAX} pages`);
    return { kind: 'endless' };
  }
  const page = await queryPage(deps, state);
  if (page.kind === 'unknown') {
    const { reason, message } = page;
    await recordError(deps.db, state, `page ${nth} of the statement is not available (${reason}): ${message}`);
    return { kind: 'unknown', reason };
  }
  if (page.next !== null && page.next === state.loopGuard) {
    await recordError(deps.db, state, `the statement never ends: page ${nth} leads back to an earlier one`);
    return { kind: 'endless' };
  }
  const isStored = await storePage(deps.db, { reconciliationId, importNo, cursor: state.cursor, ...page });
  // A concurrent call has stored it. The next call reads where the import continues.
  if (!isStored) return { kind: 'more', pages: state.pages };
  return { kind: page.next === null ? 'end' : 'more', pages: state.pages + 1 };
}

async function queryPage({ findProvider }: ImportDeps, state: ImportState): Promise<StatementPage | Unknown> {
  const unknown = (reason: Unknown['reason'], message: string): Unknown => ({ kind: 'unknown', reason, message });
  const provider = findProvider(state.channel, state.environment);
  if (!provider) return unknown('network', `no provider is configured for ${state.channel}`);
  const page = await provider.statement(state.day, state.cursor);
  if (page.kind === 'unknown') return page;
  // A page that leads to itself would be imported for ever.
  if (page.next !== null && page.next === state.cursor) return unknown('unreadable', 'it leads to itself');
  const invalidRow = page.rows.findIndex((row) => !isStorable(row));
  return invalidRow < 0 ? page : unknown('unreadable', `its row ${invalidRow + 1} is malformed`);
}

async function recordError(db: Database, { id, importNo }: ImportState, error: string): Promise<void> {
  const sql = 'UPDATE reconciliation SET error = :error WHERE id = :id AND import_no = :importNo';
  await rows(db, sql, { id, importNo, error: storableError(error) });
}

const ERROR_CHARACTERS_MAX = 300;

/** Text of a provider as a column can store it: bounded, without control characters. */
export function storableError(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, ' ').slice(0, ERROR_CHARACTERS_MAX);
}

const TEXT_CHARACTERS_MAX = 200;

/** A hundred billion birr. */
const AMOUNT_SANTIM_MAX = 10_000_000_000_000n;

/** Rejects rows that no provider sends and that the columns cannot store. */
function isStorable({ orderId, providerReference, currency, amountSantim, at }: StatementRow): boolean {
  const texts = [orderId, providerReference, currency];
  const isSound = texts.every((text) => text.length <= TEXT_CHARACTERS_MAX && !/\p{Cc}/u.test(text));
  const year = at.getUTCFullYear();
  return isSound && amountSantim >= 0n && amountSantim <= AMOUNT_SANTIM_MAX && year >= 2000 && year < 2200;
}

type StoredPage = Import & { rows: StatementRow[]; cursor: string | null; next: string | null };

/** False, and nothing is stored, when the import is no longer at this page. */
async function storePage(db: Database, { reconciliationId, importNo, cursor, ...page }: StoredPage): Promise<boolean> {
  const listed = page.rows.map(({ amountSantim, ...row }) => ({ ...row, amountSantim: String(amountSantim) }));
  const updated = await rows(
    db,
    `WITH updated AS (
       UPDATE reconciliation SET cursor = :next, pages = pages + 1, error = NULL,
         loop_guard = CASE WHEN (pages + 1) & pages = 0 THEN :next ELSE loop_guard END,
         completed_import_no = CASE WHEN CAST(:next AS text) IS NULL THEN import_no ELSE completed_import_no END,
         last_import_started_at = CASE WHEN CAST(:next AS text) IS NULL THEN import_started_at ELSE last_import_started_at END,
         first_import_started_at = CASE
           WHEN CAST(:next AS text) IS NULL AND import_started_at >= CAST(day + 1 AS timestamp) AT TIME ZONE 'Africa/Addis_Ababa'
           THEN coalesce(first_import_started_at, import_started_at) ELSE first_import_started_at END
       WHERE id = :reconciliationId AND import_no = :importNo AND completed_import_no < import_no AND cursor IS NOT DISTINCT FROM :cursor
       RETURNING id
     ), stored AS (
       INSERT INTO statement_row (reconciliation_id, type, order_id, provider_reference, amount_santim, currency, occurred_at, import_no)
       SELECT DISTINCT ON (l.type, l."orderId", l."providerReference", l."amountSantim", l.currency)
              updated.id, l.type, l."orderId", l."providerReference", l."amountSantim", l.currency, l.at, :importNo
       FROM updated, jsonb_to_recordset(CAST(:listed AS jsonb))
         AS l (type text, "orderId" text, "providerReference" text, "amountSantim" bigint, currency text, at timestamptz)
       ORDER BY l.type, l."orderId", l."providerReference", l."amountSantim", l.currency
       ON CONFLICT (reconciliation_id, type, order_id, provider_reference, amount_santim, currency) DO UPDATE SET
         occurred_at = excluded.occurred_at, import_no = excluded.import_no
     )
     SELECT id FROM updated`,
    { reconciliationId, importNo, cursor, next: page.next, listed: JSON.stringify(listed) },
  );
  return updated.length > 0;
}
