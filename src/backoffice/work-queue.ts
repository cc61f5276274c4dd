import { rows, type Queryable } from '../lib/db.ts';
import type { Santim } from '../lib/money.ts';
import { toPage, pageOffset, type Page } from '../lib/pagination.ts';
import type { Environment } from '../lib/scope.ts';
import { CHANNEL_REVIEW_ITEMS, KYC_REVIEW_ITEMS } from '../merchants/review-items.ts';
import { STALLED_OUTBOX, type WorkItemSource } from '../outbox/work-items.ts';
import { STALLED_PAYMENTS, PAYMENT_REVIEW_ITEMS } from '../payments/review-items.ts';
import { RECEIPT_REVIEW_ITEMS, DISCREPANCY_REVIEW_ITEMS, STALLED_RUNS } from '../reconciliation/monitoring.ts';
import { STALLED_REPORTS } from '../reports/workflow.ts';
import { BANK_ACCOUNT_REVIEW_ITEMS, SETTLEMENT_REVIEW_ITEMS, STALLED_SETTLEMENTS } from '../settlements/monitoring.ts';
import { STALLED_DELIVERIES } from '../webhooks/delivery/recoverable.ts';
import { STALLED_WITHDRAWALS, WITHDRAWAL_REVIEW_ITEMS } from '../withdrawals/monitoring.ts';
import { verbs, type Links } from './links.ts';

/** Everything that waits for a person, slice by slice. */
export const REVIEW_ITEMS = joined([
  WITHDRAWAL_REVIEW_ITEMS,
  PAYMENT_REVIEW_ITEMS,
  SETTLEMENT_REVIEW_ITEMS,
  BANK_ACCOUNT_REVIEW_ITEMS,
  KYC_REVIEW_ITEMS,
  CHANNEL_REVIEW_ITEMS,
  DISCREPANCY_REVIEW_ITEMS,
  RECEIPT_REVIEW_ITEMS,
]);

/** Everything that should have gone on by itself and has not. */
export const STALLED_ITEMS = joined([
  STALLED_OUTBOX,
  STALLED_DELIVERIES,
  STALLED_PAYMENTS,
  STALLED_WITHDRAWALS,
  STALLED_SETTLEMENTS,
  STALLED_RUNS,
  STALLED_REPORTS,
]);

/** One thing to look at. */
export type WorkItemRow = {
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
export type WorkItemFilter = {
  kinds?: readonly string[] | null | undefined;
  merchantId?: string | undefined;
  environment?: Environment | undefined;
};

/** One page, what waits longest first, and how many there are of each kind, whatever kinds are listed. */
export async function listWorkItems(
  db: Queryable,
  { sql, kinds }: WorkItemSource,
  { filter, page, at }: { filter: WorkItemFilter; page: Page; at: Date },
) {
  const values = { at, merchantId: filter.merchantId ?? null, environment: filter.environment ?? null };
  const wanted = filter.kinds ? [...filter.kinds] : [...kinds];
  const [counted, found] = await Promise.all([
    rows<{ kind: string; total: number }>(
      db,
      `SELECT kind, count(*)::int AS total FROM (${sql}) each WHERE ${MATCHES} GROUP BY kind`,
      values,
    ),
    rows<WorkItemRow & { position: string }>(
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
        offset: pageOffset(page),
      },
    ),
  ]);
  const counts = Object.fromEntries(kinds.map((kind) => [kind, counted.find((one) => one.kind === kind)?.total ?? 0]));
  const total = wanted.reduce((sum, kind) => sum + (counts[kind] ?? 0), 0);
  return { ...toPage(page, total, found), counts };
}

const MATCHES = `(CAST(:merchantId AS text) IS NULL OR merchant_id = :merchantId)
  AND (CAST(:environment AS text) IS NULL OR environment IS NULL OR environment = :environment)`;

function joined(sources: readonly WorkItemSource[]): WorkItemSource {
  return { kinds: sources.flatMap(({ kinds }) => kinds), sql: sources.map(({ sql }) => sql).join('\nUNION ALL\n') };
}

/** Where to look at it and act on it, by what is done there: calls of this API, and the workflow in the Temporal UI. */
export function linksOf(row: WorkItemRow, workflowUrl: (workflowId: string) => string | null): Links {
  const url = row.workflowId === null ? null : workflowUrl(row.workflowId);
  const read = readingOf(row);
  return { ...(read === null ? {} : { read }), ...actionsOf(row), ...(url === null ? {} : { workflow: url }) };
}

/** Where all of it can be read, for whoever decides about it. */
function readingOf({ kind, id, merchantId, environment, detail }: WorkItemRow): string | null {
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

function actionsOf({ kind, id, merchantId, detail }: WorkItemRow): Links {
  switch (kind) {
    case 'WITHDRAWAL_REVIEW':
      return verbs(`withdrawals/${id}`, 'approve', 'reject');
    case 'WITHDRAWAL_UNKNOWN':
    case 'WITHDRAWAL_CONFLICT':
      return verbs(`withdrawals/${id}`, 'resolve');
    case 'PAYMENT_HELD':
    case 'PAYMENT_DUPLICATE':
      return verbs(`transactions/${String(detail['transactionId'])}`, 'accept', 'reject');
    case 'SETTLEMENT_APPROVAL':
      return verbs(`settlements/${id}`, 'approve', 'reject');
    case 'SETTLEMENT_READY_TO_SEND':
      return verbs(`settlements/${id}`, 'sent', 'failed');
    case 'SETTLEMENT_OVERDUE':
      return verbs(`settlements/${id}`, 'credited', 'failed');
    case 'SETTLEMENT_CREDITED_LATE':
      return verbs(`settlements/${id}`, 'book-credit', 'dismiss-credit');
    case 'BANK_ACCOUNT':
      return verbs(`merchants/${merchantId}/bank-account`, 'verify', 'reject');
    case 'RECONCILIATION':
      return verbs(`reconciliation/differences/${id}`, 'close');
    case 'RECONCILIATION_FAILED':
    case 'RECONCILIATION_MISSING':
    case 'RECONCILIATION_PENDING':
      return verbs('reconciliation', 'run');
    case 'RECEIPT_UNALLOCATED':
      return verbs(`bank-money/${id}`, 'settle');
    case 'PAYOUT_OVERPAID':
      return id.startsWith('bkm_') ? verbs(`bank-money/${id}`, 'settle') : verbs('bank-money', 'excess');
    case 'CHANNEL_REQUEST':
      return verbs(`merchants/${merchantId}/channels/${String(detail['channel'])}`, 'approve', 'suspend');
    case 'KYC':
      return verbs(`merchants/${merchantId}/kyc`, 'approve', 'reject', 'request-info');
    default:
      return {};
  }
}
