import { BANK_ACCOUNTS_WAITING } from '../bank-accounts/attention.ts';
import { CHANNELS_WAITING } from '../channels/attention.ts';
import { KYC_WAITING } from '../kyc/attention.ts';
import { OUTBOX_STUCK, type AttentionSource } from '../lib/attention.ts';
import { rows, type Queryable } from '../lib/db.ts';
import type { Santim } from '../lib/money.ts';
import type { Environment } from '../lib/owner.ts';
import { cutPage, offsetOf, type Page } from '../lib/page.ts';
import { BANK_MONEY_WAITING, DIFFERENCES_WAITING } from '../reconciliation/attention.ts';
import { COMPARISONS_STUCK } from '../reconciliation/stuck.ts';
import { REPORTS_STUCK } from '../reports/attention.ts';
import { SETTLEMENTS_STUCK, SETTLEMENTS_WAITING } from '../settlements/attention.ts';
import { PAYMENTS_STUCK, PAYMENTS_WAITING } from '../transactions/attention.ts';
import { DELIVERIES_STUCK } from '../webhooks/attention.ts';
import { WITHDRAWALS_STUCK, WITHDRAWALS_WAITING } from '../withdrawals/attention.ts';
import { verbs, type Links } from './links.ts';

/** Everything that waits for a person, slice by slice. */
export const QUEUE = joined([
  WITHDRAWALS_WAITING,
  PAYMENTS_WAITING,
  SETTLEMENTS_WAITING,
  BANK_ACCOUNTS_WAITING,
  KYC_WAITING,
  CHANNELS_WAITING,
  DIFFERENCES_WAITING,
  BANK_MONEY_WAITING,
]);

/** Everything that should have gone on by itself and has not. */
export const STUCK = joined([
  OUTBOX_STUCK,
  DELIVERIES_STUCK,
  PAYMENTS_STUCK,
  WITHDRAWALS_STUCK,
  SETTLEMENTS_STUCK,
  COMPARISONS_STUCK,
  REPORTS_STUCK,
]);

/** One thing to look at. */
export type AttentionRow = {
  kind: string;
  id: string;
  merchantId: string | null;
  environment: Environment | null;
  amountSantim: Santim | null;
  /** Since when it waits, or is late. */
  since: Date;
  what: string;
  detail: Record<string, unknown>;
  workflowId: string | null;
};

/** What to list; undefined and null do not narrow. What is of no environment is of both. */
export type AttentionFilter = {
  kinds?: readonly string[] | null | undefined;
  merchantId?: string | undefined;
  environment?: Environment | undefined;
};

/** One page, what waits longest first, and how many there are of each kind, whatever kinds are listed. */
export async function listAttention(
  db: Queryable,
  { sql, kinds }: AttentionSource,
  { filter, page, at }: { filter: AttentionFilter; page: Page; at: Date },
) {
  const values = { at, merchantId: filter.merchantId ?? null, environment: filter.environment ?? null };
  const wanted = filter.kinds ? [...filter.kinds] : [...kinds];
  const [counted, found] = await Promise.all([
    rows<{ kind: string; total: number }>(
      db,
      `SELECT kind, count(*)::int AS total FROM (${sql}) each WHERE ${MATCHES} GROUP BY kind`,
      values,
    ),
    rows<AttentionRow & { position: string }>(
      db,
      `SELECT *, since::text AS position FROM (${sql}) each
       WHERE ${MATCHES} AND kind = ANY (:wanted)
         AND (CAST(:afterId AS text) IS NULL OR (since, id) > (CAST(:afterAt AS timestamptz), :afterId))
       ORDER BY since, id LIMIT :most OFFSET :offset`,
      {
        ...values,
        wanted,
        afterAt: page.after?.at ?? null,
        afterId: page.after?.id ?? null,
        most: page.limit + 1,
        offset: offsetOf(page),
      },
    ),
  ]);
  const counts = Object.fromEntries(kinds.map((kind) => [kind, counted.find((one) => one.kind === kind)?.total ?? 0]));
  const total = wanted.reduce((sum, kind) => sum + (counts[kind] ?? 0), 0);
  return { ...cutPage(page, total, found), counts };
}

const MATCHES = `(CAST(:merchantId AS text) IS NULL OR merchant_id = :merchantId)
  AND (CAST(:environment AS text) IS NULL OR environment IS NULL OR environment = :environment)`;

function joined(sources: readonly AttentionSource[]): AttentionSource {
  return { kinds: sources.flatMap(({ kinds }) => kinds), sql: sources.map(({ sql }) => sql).join('\nUNION ALL\n') };
}

/** Where to look at it and act on it, by what is done there: calls of this API, and the workflow in the Temporal UI. */
export function linksOf(row: AttentionRow, workflowUrl: (workflowId: string) => string | null): Links {
  const url = row.workflowId === null ? null : workflowUrl(row.workflowId);
  const read = readingOf(row);
  return { ...(read === null ? {} : { read }), ...actionsOf(row), ...(url === null ? {} : { workflow: url }) };
}

/** Where all of it can be read, for whoever decides about it. */
function readingOf({ kind, id, merchantId, environment, detail }: AttentionRow): string | null {
  switch (kind.replace(/_.*/, '')) {
    case 'WITHDRAWAL':
      return `/api/ops/withdrawals/${id}`;
    case 'PAYOUT':
      return `/api/ops/withdrawals/${String(detail['withdrawalId'])}`;
    case 'SETTLEMENT':
      return `/api/ops/settlements/${id}`;
    case 'PAYMENT':
      return `/api/ops/transactions/${String(detail['transactionId'])}`;
    case 'BANK':
      return `/api/ops/merchants/${merchantId}/bank-account?environment=${environment}`;
    case 'KYC':
      return `/api/ops/merchants/${merchantId}/kyc?environment=${environment}`;
    case 'CHANNEL':
      return `/api/ops/merchants/${merchantId}`;
    default:
      return null;
  }
}

function actionsOf({ kind, id, merchantId, detail }: AttentionRow): Links {
  switch (kind) {
    case 'WITHDRAWAL_REVIEW':
      return verbs(`withdrawals/${id}`, 'approve', 'reject');
    case 'WITHDRAWAL_UNKNOWN':
    case 'WITHDRAWAL_CONTRADICTED':
      return verbs(`withdrawals/${id}`, 'resolve');
    case 'PAYMENT_HELD':
    case 'PAYMENT_DUPLICATE':
      return verbs(`transactions/${String(detail['transactionId'])}`, 'accept', 'reject');
    case 'SETTLEMENT_APPROVAL':
      return verbs(`settlements/${id}`, 'approve', 'reject');
    case 'SETTLEMENT_TO_SEND':
      return verbs(`settlements/${id}`, 'sent', 'failed');
    case 'SETTLEMENT_OVERDUE':
      return verbs(`settlements/${id}`, 'credited', 'failed');
    case 'SETTLEMENT_LATE_CREDIT':
      return verbs(`settlements/${id}`, 'book-credit', 'dismiss-credit');
    case 'BANK_ACCOUNT':
      return verbs(`merchants/${merchantId}/bank-account`, 'verify', 'reject');
    case 'RECONCILIATION':
      return verbs(`reconciliation/differences/${id}`, 'close');
    case 'RECONCILIATION_FAILED':
    case 'RECONCILIATION_NOT_ASKED':
    case 'RECONCILIATION_PENDING':
      return verbs('reconciliation', 'run');
    case 'UNMATCHED_MONEY':
    case 'TRACE_ID_TWICE':
      return verbs(`bank-money/${id}`, 'settle');
    case 'PAYOUT_EXCESS':
      return id.startsWith('bkm_') ? verbs(`bank-money/${id}`, 'settle') : verbs('bank-money', 'excess');
    case 'CHANNEL_REQUEST':
      return verbs(`merchants/${merchantId}/channels/${String(detail['channel'])}`, 'approve', 'suspend');
    case 'KYC':
      return verbs(`merchants/${merchantId}/kyc`, 'approve', 'reject', 'request-info');
    default:
      return {};
  }
}
