import { measureFigures, type Registry } from '../http/metrics.ts';
import type { Clock } from '../lib/clock.ts';
import { type Database, first, openDatabase, rows } from '../lib/db.ts';
import type { Logger } from '../lib/log.ts';

/** An invariant. `sql` selects its violations: `about` in words, `journal` the journal to inspect, if any. */
export type LedgerInvariant = { description: string; sql: string };

/** A violated invariant: its first violation, and the number of them. */
export type Violation = { check: string; about: string; journalId: string | null; count: number };

export const LEDGER_CHECKS: readonly LedgerInvariant[] = [
  {
    description: 'the entries of each journal sum to zero',
    sql: `SELECT j.id AS journal, 'journal ' || j.posting_key || ' sums to ' || coalesce(sum(e.amount_santim), 0) || ' santim' AS about
          FROM ledger_journal j LEFT JOIN ledger_entry e ON e.journal_id = j.id
          GROUP BY j.id, j.posting_key, j.effective_at HAVING coalesce(sum(e.amount_santim), 1) <> 0 ORDER BY j.effective_at`,
  },
  {
    description: 'every entry has its journal and its account, both of one environment',
    sql: `SELECT e.journal_id AS journal, 'entry ' || e.position || ' of journal ' || e.journal_id AS about
          FROM ledger_entry e LEFT JOIN ledger_journal j ON j.id = e.journal_id LEFT JOIN ledger_account a ON a.id = e.account_id
          WHERE j.id IS NULL OR a.id IS NULL OR a.environment <> j.environment OR a.currency <> j.currency
             OR (a.merchant_id IS NOT NULL AND a.merchant_id IS DISTINCT FROM j.merchant_id) ORDER BY e.effective_at`,
  },
  {
    description: 'all accounts of an environment sum to zero',
    sql: `SELECT NULL AS journal, a.environment || ' ' || a.currency || ' sums to ' || sum(e.amount_santim) || ' santim' AS about
          FROM ledger_entry e JOIN ledger_account a ON a.id = e.account_id
          GROUP BY a.environment, a.currency HAVING sum(e.amount_santim) <> 0`,
  },
  {
    description: "a merchant's balance is the sum of its entries",
    sql: `SELECT NULL AS journal, coalesce(b.merchant_id, s.merchant_id) || ' ' || coalesce(b.environment, s.environment)
                 || ': balance ' || coalesce(b.available_santim, 0) || ' + ' || coalesce(b.reserved_santim, 0)
                 || ' santim, entries ' || coalesce(s.available, 0) || ' + ' || coalesce(s.reserved, 0) AS about
          FROM ledger_balance b FULL JOIN (
            SELECT a.merchant_id, a.environment, a.currency, max(e.sequence) AS last,
                   coalesce(sum(e.amount_santim) FILTER (WHERE a.kind = 'AVAILABLE'), 0) AS available,
                   coalesce(sum(e.amount_santim) FILTER (WHERE a.kind = 'RESERVED'), 0) AS reserved
            FROM ledger_entry e JOIN ledger_account a ON a.id = e.account_id
            WHERE a.merchant_id IS NOT NULL GROUP BY a.merchant_id, a.environment, a.currency
          ) s ON s.merchant_id = b.merchant_id AND s.environment = b.environment AND s.currency = b.currency
          WHERE coalesce(b.available_santim, 0) <> coalesce(s.available, 0)
             OR coalesce(b.reserved_santim, 0) <> coalesce(s.reserved, 0) OR b.version < s.last`,
  },
  {
    description: 'fees and settlements to date are the sums of their journals',
    sql: `SELECT NULL AS journal, b.merchant_id || ' ' || b.environment || ': fees ' || b.fees_santim || ', settled '
                 || b.settled_santim || ' santim; journals ' || coalesce(s.fees, 0) || ', ' || coalesce(s.settled, 0) AS about
          FROM ledger_balance b LEFT JOIN (
            SELECT merchant_id, environment, currency, sum(fees_santim) AS fees, sum(settled_santim) AS settled
            FROM ledger_journal GROUP BY merchant_id, environment, currency
          ) s ON s.merchant_id = b.merchant_id AND s.environment = b.environment AND s.currency = b.currency
          WHERE b.fees_santim <> coalesce(s.fees, 0) OR b.settled_santim <> coalesce(s.settled, 0)`,
  },
  {
    description: 'the fees and the settled amount of a journal are the sums of its entries',
    sql: `SELECT j.id AS journal, 'journal ' || j.posting_key || ': fees ' || j.fees_santim || ', settled ' || j.settled_santim
                 || ' santim; entries ' || s.fees || ', ' || s.settled AS about
          FROM ledger_journal j CROSS JOIN LATERAL (
            SELECT coalesce(sum(e.amount_santim) FILTER (WHERE a.kind IN ('FEE_REVENUE', 'TAX_PAYABLE')), 0) AS fees,
                   coalesce(sum(e.amount_santim) FILTER (WHERE a.kind = 'BANK' AND j.resource_type = 'settlement'), 0) AS settled
            FROM ledger_entry e JOIN ledger_account a ON a.id = e.account_id WHERE e.journal_id = j.id
          ) s WHERE j.fees_santim <> s.fees OR j.settled_santim <> s.settled ORDER BY j.effective_at`,
  },
  {
    description: 'the balance after an entry is the one before it, plus the entry',
    sql: `SELECT journal_id AS journal, 'entry ' || position || ' of journal ' || journal_id || ' leads from '
                 || before || ' by ' || amount_santim || ' to ' || balance_after_santim || ' santim' AS about
          FROM (SELECT e.*, coalesce(lag(e.balance_after_santim) OVER (PARTITION BY e.account_id ORDER BY e.sequence), 0) AS before
                FROM ledger_entry e WHERE e.sequence IS NOT NULL) chain
          WHERE before + amount_santim <> balance_after_santim ORDER BY account_id, sequence`,
  },
  {
    description: "the entries of a merchant's account never go back in time",
    sql: `SELECT journal_id AS journal, 'entry ' || position || ' of journal ' || journal_id || ' is of ' || effective_at
                 || ', the one before it of ' || before AS about
          FROM (SELECT e.*, lag(e.effective_at) OVER (PARTITION BY e.account_id ORDER BY e.sequence) AS before
                FROM ledger_entry e WHERE e.sequence IS NOT NULL) chain
          WHERE effective_at < before ORDER BY account_id, sequence`,
  },
  {
    description: 'no reservation is both paid out and released',
    sql: `SELECT min(id) AS journal, resource_type || ' ' || resource_id || ' has ended twice' AS about
          FROM ledger_journal
          -- A late payout takes from the balance what was released to it.
          WHERE (kind LIKE '%\\_PAID' OR kind LIKE '%\\_RELEASED') AND posting_key NOT LIKE 'late-payout:%'
          GROUP BY resource_type, resource_id HAVING count(*) > 1`,
  },
];

/**
 * A table of payouts `p`, of one type; in SQL, how they end, the amount paid to the beneficiary, from which account, over which channel, and
 * whether one may have been given back less of a fee than was reserved for it.
 */
type PayoutTable = {
  table: 'payout' | 'settlement';
  /** What the ledger calls them, and the column `kind` of a payout. */
  type: 'withdrawal' | 'refund' | 'settlement';
  account: 'CHANNEL_CLEARING' | 'BANK';
} & Record<'isOpen' | 'isPaid' | 'isReversed' | 'paid' | 'channel' | 'mayReturnLessFee', string>;

/** The invariants between payouts and the ledger. */
export function payoutChecks({ table, type, account, ...sql }: PayoutTable): LedgerInvariant[] {
  const kind = (step: string): string => `'${type.toUpperCase()}_${step}'`;
  const isOfType = table === 'payout' ? `p.kind = '${type}'` : 'true';
  const journals = `FROM ${table} p JOIN ledger_journal j ON j.resource_id = p.id AND ${isOfType}`;
  // A payout that was paid after it had failed was released before it was charged again.
  const released = `CASE WHEN bool_or(j.posting_key = 'late-payout:' || p.id) THEN ARRAY[${kind('RELEASED')}] END`;
  return [
    {
      description: `each ${type} has the journals of its status, and no others`,
      sql: `SELECT min(j.id) AS journal, '${type} ' || p.id || ' is ' || p.status || ' with journals '
                   || coalesce(string_agg(j.kind, ', ' ORDER BY j.created_at, j.kind), 'none') AS about
            FROM ${table} p LEFT JOIN ledger_journal j ON j.resource_id = p.id WHERE ${isOfType} GROUP BY p.id
            HAVING coalesce(array_agg(CAST(j.kind AS text) ORDER BY j.kind) FILTER (WHERE j.id IS NOT NULL), '{}') <> CASE
              WHEN ${sql.isOpen} THEN ARRAY[${kind('RESERVED')}]
              WHEN NOT (${sql.isPaid}) THEN ARRAY[${kind('RELEASED')}, ${kind('RESERVED')}]
              ELSE ARRAY[${kind('PAID')}] || ${released} || ARRAY[${kind('RESERVED')}]
                || CASE WHEN ${sql.isReversed} THEN ARRAY[${kind('REVERSED')}] END END`,
    },
    {
      description: `a ${type} reserves its amount, fee and tax`,
      sql: `SELECT j.id AS journal, '${type} ' || p.id || ' sets ' || j.amount_santim || ' santim aside' AS about ${journals}
            WHERE j.kind = ${kind('RESERVED')} AND j.amount_santim <> p.amount_santim + p.fee_santim + p.fee_tax_santim
              AND NOT (j.amount_santim < p.amount_santim + p.fee_santim + p.fee_tax_santim AND ${sql.mayReturnLessFee})`,
    },
    {
      description: `a ${type} has paid out, and had reversed, what its beneficiary received`,
      sql: `SELECT j.id AS journal, '${type} ' || p.id || ' has ' || coalesce(moved.santim, 0) || ' santim paid out' AS about
            ${journals} LEFT JOIN LATERAL (
              SELECT sum(e.amount_santim) * CASE j.kind WHEN ${kind('REVERSED')} THEN -1 ELSE 1 END AS santim FROM ledger_entry e JOIN ledger_account a ON a.id = e.account_id
              WHERE e.journal_id = j.id AND a.kind = '${account}') moved ON true
            WHERE j.kind IN (${kind('PAID')}, ${kind('REVERSED')}) AND coalesce(moved.santim, 0) <> ${sql.paid}`,
    },
    {
      description: `a ${type} is posted for its own merchant, environment and channel`,
      sql: `SELECT j.id AS journal, '${type} ' || p.id || ' of ' || p.merchant_id || coalesce(' over ' || ${sql.channel}, '') AS about
            ${journals} WHERE (j.merchant_id, j.environment) IS DISTINCT FROM (p.merchant_id, p.environment)
               OR EXISTS (SELECT 1 FROM ledger_entry e JOIN ledger_account a ON a.id = e.account_id
                          WHERE e.journal_id = j.id AND a.channel <> ${sql.channel})`,
    },
    {
      description: `each journal of a ${type} has a ${type}`,
      sql: `SELECT j.id AS journal, '${type} ' || j.resource_id || ' is not there' AS about
            FROM ledger_journal j LEFT JOIN ${table} p ON p.id = j.resource_id AND ${isOfType}
            WHERE j.resource_type = '${type}' AND p.id IS NULL`,
    },
  ];
}

/** Checks the whole ledger in one snapshot, without time limits, and writes nothing. Returns the violated invariants. */
export async function verifyLedger(db: Database, checks: readonly LedgerInvariant[]): Promise<Violation[]> {
  return db.transaction(async (trx) => {
    await rows(trx, 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
    await rows(trx, 'SET LOCAL statement_timeout = 0');
    await rows(trx, 'SET LOCAL idle_in_transaction_session_timeout = 0');
    const violations: Violation[] = [];
    for (const { description, sql } of checks) {
      const violation = await first<Omit<Violation, 'check'>>(
        trx,
        `SELECT about, journal AS journal_id, count(*) OVER ()::int AS count FROM (${sql}) AS broken LIMIT 1`,
      );
      if (violation) violations.push({ check: description, ...violation });
    }
    return violations;
  });
}

const GAUGES = {
  violations: {
    name: 'meskot_ledger_invariant_violations',
    help: 'Invariants of "meskot ledger verify" that the last verification of this process found violated; NaN before the first',
  },
  verifiedAt: {
    name: 'meskot_ledger_last_verification_timestamp_seconds',
    help: 'When this process last completed a verification of the ledger, in seconds since 1970; 0 before the first',
  },
} as const;

const FIRST_AFTER_MS = 10 * 60_000;
/** A number that nothing else in this database locks: "ledg". */
const LOCK_ID = 0x6c_65_64_67;

type IntegrityMonitorDeps = {
  /** Used to cancel a running verification. */
  db: Database;
  databaseUrl: string;
  checks: readonly LedgerInvariant[];
  clock: Clock;
  log: Pick<Logger, 'error'>;
  registry?: Registry | undefined;
};

/**
 * Verifies the whole ledger periodically: ten minutes after the start of the process, then every `everyMs`, in one process
 * at a time. Logs and counts violations; changes nothing. Aborting `stopping` cancels a running verification.
 */
export function createIntegrityMonitor(
  deps: IntegrityMonitorDeps,
  everyMs: number,
): (stopping: AbortSignal) => Promise<void> {
  const { clock, log, registry } = deps;
  let dueAt = clock().getTime() + Math.min(FIRST_AFTER_MS, everyMs);
  let violations = NaN;
  let verifiedAt = 0;
  if (registry) measureFigures(registry, GAUGES, async () => ({ violations, verifiedAt }));
  return async (stopping) => {
    if (clock().getTime() < dueAt) return;
    const found = await runOnce(deps, stopping);
    if (!found) return;
    for (const one of found) log.error(one, 'a ledger invariant is violated: run "meskot ledger verify"');
    violations = found.length;
    verifiedAt = clock().getTime() / 1_000;
    dueAt = clock().getTime() + everyMs;
  };
}

/** Null when another process is verifying, or when it was stopped. */
async function runOnce(
  { db, databaseUrl, checks }: IntegrityMonitorDeps,
  stopping: AbortSignal,
): Promise<Violation[] | null> {
  // A connection without time limits, which holds the lock until it is closed.
  const connection = { url: databaseUrl, poolMax: 1, applicationName: 'meskot-ledger' };
  const own = openDatabase({ ...connection, unlimitedStatements: true });
  let end = (): void => {};
  try {
    const sql = 'SELECT pg_try_advisory_lock(:lockId) AS is_ours, pg_backend_pid() AS pid';
    const lock = await first<{ isOurs: boolean; pid: number }>(own, sql, { lockId: LOCK_ID });
    if (!lock?.isOurs || stopping.aborted) return null;
    end = () => void rows(db, 'SELECT pg_terminate_backend(:pid)', lock).catch(() => {});
    stopping.addEventListener('abort', end);
    return await verifyLedger(own, checks);
  } catch (error) {
    if (stopping.aborted) return null;
    throw error;
  } finally {
    stopping.removeEventListener('abort', end);
    await own.destroy();
  }
}
