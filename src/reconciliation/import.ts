import { type Database, first, rows } from '../lib/db.ts';
import { found, invalidState } from '../lib/errors.ts';
import type { FindProvider, ReadStatement, StatementPage, StatementRow, Unknown } from '../providers/provider.ts';
import type { ChannelDay } from './workflow.ts';

export type ImportDeps = { db: Database; findProvider: FindProvider };

/** One import of the statements of a day. `retries`: how often those that were left out are requested again. */
export type Import = { reconciliationId: string; importNo: number; retries?: number };

/**
 * The result of importing a page. `more`: call again; isFailed: another account's statement is next. `unknown`: retry later,
 * since no unread statement is available; isPartial: others were read. `end`: all were read; isPartial: but those left out.
 * `endless`: do not retry, since its pages form a circle or are more than any day has. The rows contain the errors, for
 * operators.
 */
export type ImportedPage =
  | { kind: 'more'; pages: number; isFailed?: true }
  | { kind: 'end'; pages: number; isPartial?: true }
  | { kind: 'unknown'; reason: Unknown['reason']; isPartial?: true }
  | { kind: 'endless' };

/** A million orders at 50 a page. */
const PAGES_MAX = 20_000;
/** After this many failures, an hour, a statement is left out where those of other accounts could be read; a retry is one more. */
const FAILURES_MAX = 10;
/** After as many, and each as many again, it is read from its first page: the provider may have dropped the cursor. */
const FAILURES_RESTART = 5;

/** Starts another import of the statements from their first pages. Throws NOT_FOUND. */
export async function startImport(db: Database, reconciliationId: string, at: Date): Promise<Import> {
  const started = await first<Import>(
    db,
    `UPDATE reconciliation SET import_no = import_no + 1, error = NULL,
       import_started_at = :at, requests_at_start = requests, is_running = true
     WHERE id = :reconciliationId RETURNING id AS reconciliation_id, import_no`,
    { reconciliationId, at },
  );
  return found(started, 'reconciliation');
}

type StatementState = Import & {
  account: string;
  completedImportNo: number;
  cursor: string | null;
  /** The cursor of an earlier page, moved forward at pages 1, 2, 4, 8 …: any circle returns to it in the end. */
  loopGuard: string | null;
  pages: number;
  failures: number;
};

/**
 * Fetches the next page of one account's statement, and stores its rows and the cursor of the page after it in one SQL
 * statement, so that the next call continues after a crash. A statement that is not available is tried again after the
 * others. Throws NOT_FOUND, INVALID_STATE (a later import has started).
 */
export async function importNextPage(deps: ImportDeps, run: Import): Promise<ImportedPage> {
  const { reconciliationId, importNo, retries = 0 } = run;
  const failuresMax = FAILURES_MAX + retries;
  const sql = 'SELECT * FROM reconciliation WHERE id = :reconciliationId';
  const day = found(await first<ChannelDay & Import>(deps.db, sql, { reconciliationId }), 'reconciliation');
  if (day.importNo !== importNo) throw invalidState(`Import ${importNo} was superseded by a later one.`);
  const statements = await readersOf(deps, day);
  const states = await openStatements(deps.db, run, [...statements.keys()]);
  const pages = states.reduce((sum, one) => sum + one.pages, 0);
  const unread = states.filter((one) => one.completedImportNo < importNo);
  const [state, other] = unread;
  const isPartial = unread.length < states.length;
  if (isPartial && !state) return { kind: 'end', pages };
  if (isPartial && state && state.failures >= failuresMax) return { kind: 'end', pages, isPartial };
  if (!state) {
    const error = `no account of ${day.channel} is configured`;
    await rows(deps.db, 'UPDATE reconciliation SET error = :error WHERE id = :reconciliationId', { ...run, error });
    return { kind: 'unknown', reason: 'not-configured' };
  }
  const page = await queryPage(statements.get(state.account), { ...state, day: day.day });
  if (page.kind === 'page') {
    // Otherwise a concurrent call has stored it. The next call reads where the import continues.
    const isStored = await storePage(deps.db, { ...state, ...page });
    const isLast = page.next === null && unread.length === 1;
    return { kind: isStored && isLast ? 'end' : 'more', pages: pages + (isStored ? 1 : 0) };
  }
  const isEndless = page.kind === 'endless';
  const failures = isEndless ? failuresMax : state.failures + 1;
  await recordFailure(deps.db, { ...state, failures, error: page.message });
  if (other && other.failures < failures) return { kind: 'more', pages, isFailed: true };
  if (isPartial && failures >= failuresMax) return { kind: 'end', pages, isPartial };
  return isEndless ? { kind: 'endless' } : { kind: 'unknown', reason: page.reason, ...(isPartial && { isPartial }) };
}

/** How to read the statement of each account; the sandbox has one without a name. */
async function readersOf({ findProvider }: ImportDeps, { channel, environment, day }: ChannelDay) {
  const provider = findProvider(channel, environment);
  const listed = provider?.accountStatements
    ? await provider.accountStatements(day)
    : provider && [{ account: '', statement: provider.statement }];
  // The first of a name: the platform's before a merchant's.
  return new Map((listed ?? []).toReversed().map(({ account, statement }) => [account, statement]));
}

/** The statements of this import, the ones that failed least first; starts those that it has not started. */
async function openStatements(db: Database, run: Import, accounts: readonly string[]): Promise<StatementState[]> {
  const sql = `SELECT * FROM reconciliation_statement WHERE reconciliation_id = :reconciliationId AND import_no = :importNo
               ORDER BY failures, account`;
  const states = await rows<StatementState>(db, sql, run);
  if (accounts.every((name) => states.some(({ account }) => account === name))) return states;
  await rows(
    db,
    `INSERT INTO reconciliation_statement AS s (reconciliation_id, account, import_no)
     SELECT :reconciliationId, unnest(CAST(:accounts AS text[])), :importNo
     ON CONFLICT (reconciliation_id, account) DO UPDATE SET import_no = excluded.import_no, cursor = NULL,
       loop_guard = NULL, pages = 0, failures = 0, error = NULL WHERE s.import_no < excluded.import_no`,
    { ...run, accounts: [...accounts] },
  );
  return rows<StatementState>(db, sql, run);
}

type Failure = { kind: 'endless'; message: string } | Unknown;

async function queryPage(
  statement: ReadStatement | undefined,
  { day, cursor, loopGuard, pages }: StatementState & Pick<ChannelDay, 'day'>,
): Promise<StatementPage | Failure> {
  const nth = pages + 1;
  if (nth > PAGES_MAX) return { kind: 'endless', message: `the statement has more than ${PAGES_MAX} pages` };
  const failed = (reason: Unknown['reason'], why: string): Unknown => {
    return { kind: 'unknown', reason, message: `page ${nth} of the statement is not available (${reason}): ${why}` };
  };
  const page = await statement?.(day, cursor);
  if (!page) return failed('not-configured', 'the account is no longer configured');
  if (page.kind === 'unknown') return failed(page.reason, page.message);
  // A page that leads to itself would be imported for ever.
  if (page.next !== null && page.next === cursor) return failed('unreadable', 'it leads to itself');
  const invalidRow = page.rows.findIndex((row) => !isStorable(row));
  if (invalidRow >= 0) return failed('unreadable', `its row ${invalidRow + 1} is malformed`);
  if (page.next === null || page.next !== loopGuard) return page;
  return { kind: 'endless', message: `the statement never ends: page ${nth} leads back to an earlier one` };
}

async function recordFailure(db: Database, failed: StatementState & { error: string }): Promise<void> {
  const restart = failed.failures % FAILURES_RESTART === 0 ? ', cursor = NULL, loop_guard = NULL, pages = 0' : '';
  const sql = `UPDATE reconciliation_statement SET error = :error, failures = :failures${restart}
     WHERE reconciliation_id = :reconciliationId AND account = :account AND import_no = :importNo`;
  await rows(db, sql, { ...failed, error: storableError(failed.error) });
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

/** False, and nothing is stored, when the import is no longer at this page. */
async function storePage(db: Database, page: StatementState & StatementPage): Promise<boolean> {
  const listed = page.rows.map(({ amountSantim, ...row }) => ({ ...row, amountSantim: String(amountSantim) }));
  const updated = await rows(
    db,
    `WITH updated AS (
       UPDATE reconciliation_statement s SET cursor = :next, pages = s.pages + 1, error = NULL,
         loop_guard = CASE WHEN (s.pages + 1) & s.pages = 0 THEN :next ELSE s.loop_guard END,
         completed_import_no = CASE WHEN CAST(:next AS text) IS NULL THEN s.import_no ELSE s.completed_import_no END,
         last_import_started_at = CASE WHEN CAST(:next AS text) IS NULL THEN r.import_started_at ELSE s.last_import_started_at END,
         first_import_started_at = CASE
           WHEN CAST(:next AS text) IS NULL AND r.import_started_at >= CAST(r.day + 1 AS timestamp) AT TIME ZONE 'Africa/Addis_Ababa'
           THEN coalesce(s.first_import_started_at, r.import_started_at) ELSE s.first_import_started_at END
       FROM reconciliation r
       WHERE r.id = :reconciliationId AND r.import_no = :importNo AND s.reconciliation_id = r.id AND s.account = :account
         AND s.import_no = :importNo AND s.completed_import_no < :importNo AND s.cursor IS NOT DISTINCT FROM :cursor
       RETURNING r.id
     ), stored AS (
       INSERT INTO statement_row (reconciliation_id, type, order_id, account, provider_reference, amount_santim, currency, occurred_at, import_no)
       SELECT DISTINCT ON (l.type, l."orderId", l."providerReference", l."amountSantim", l.currency)
              updated.id, l.type, l."orderId", :account, l."providerReference", l."amountSantim", l.currency, l.at, :importNo
       FROM updated, jsonb_to_recordset(CAST(:listed AS jsonb))
         AS l (type text, "orderId" text, "providerReference" text, "amountSantim" bigint, currency text, at timestamptz)
       ORDER BY l.type, l."orderId", l."providerReference", l."amountSantim", l.currency
       ON CONFLICT (reconciliation_id, type, order_id, account, provider_reference, amount_santim, currency) DO UPDATE SET
         occurred_at = excluded.occurred_at, import_no = excluded.import_no
     )
     SELECT id FROM updated`,
    { ...page, listed: JSON.stringify(listed) },
  );
  return updated.length > 0;
}
