import { actionLinks, type ActionLinks } from '../access/operator-route.ts';
import { PROPOSAL_REVIEW_ITEMS } from '../access/proposals.ts';
import { rows, type Queryable } from '../lib/db.ts';
import type { Santim } from '../lib/money.ts';
import { toPage, pageOffset, type Page } from '../lib/pagination.ts';
import type { Environment } from '../lib/scope.ts';
import { CHANNEL_REVIEW_ITEMS } from '../merchants/channels/queries.ts';
import { KYC_REVIEW_ITEMS } from '../merchants/kyc/queries.ts';
import { STALLED_OUTBOX, type WorkItemSource } from '../outbox/work-items.ts';
import { STALLED_PAYMENTS, PAYMENT_REVIEW_ITEMS } from '../payments/review-items.ts';
import { RECEIPT_REVIEW_ITEMS, DISCREPANCY_REVIEW_ITEMS, STALLED_RUNS } from '../reconciliation/monitoring.ts';
import { STALLED_REPORTS } from '../reports/monitoring.ts';
import { BANK_ACCOUNT_REVIEW_ITEMS, SETTLEMENT_REVIEW_ITEMS, STALLED_SETTLEMENTS } from '../settlements/monitoring.ts';
import { STALLED_DELIVERIES } from '../webhooks/delivery/workflow.ts';
import { STALLED_WITHDRAWALS, WITHDRAWAL_REVIEW_ITEMS } from '../withdrawals/monitoring.ts';

/** Everything that needs an operator, by slice. */
export const REVIEW_ITEMS = joined([
  WITHDRAWAL_REVIEW_ITEMS,
  PAYMENT_REVIEW_ITEMS,
  SETTLEMENT_REVIEW_ITEMS,
  BANK_ACCOUNT_REVIEW_ITEMS,
  KYC_REVIEW_ITEMS,
  CHANNEL_REVIEW_ITEMS,
  DISCREPANCY_REVIEW_ITEMS,
  RECEIPT_REVIEW_ITEMS,
  PROPOSAL_REVIEW_ITEMS,
]);

/** Everything that is stalled: overdue without an operator having to act. */
export const STALLED_ITEMS = joined([
  STALLED_OUTBOX,
  STALLED_DELIVERIES,
  STALLED_PAYMENTS,
  STALLED_WITHDRAWALS,
  STALLED_SETTLEMENTS,
  STALLED_RUNS,
  STALLED_REPORTS,
]);

/** An item of the work queue. */
export type WorkItemRow = {
  kind: string;
  id: string;
  merchantId: string | null;
  environment: Environment | null;
  amountSantim: Santim | null;
  /** Since when it needs an operator, or is overdue. */
  since: Date;
  what: string;
  detail: Record<string, unknown>;
  workflowId: string | null;
};

/** Filters of the list; undefined and null match everything. An item without an environment matches both. */
export type WorkItemFilter = {
  kinds?: readonly string[] | null | undefined;
  merchantId?: string | undefined;
  environment?: Environment | undefined;
};

/** One page, longest waiting first, and the number of items of each kind, whichever kinds are listed. */
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

/** The links of an item: its resource and commands in this API, and its workflow in the Temporal UI. */
export function linksOf(row: WorkItemRow, workflowUrl: (workflowId: string) => string | null): ActionLinks {
  const url = row.workflowId === null ? null : workflowUrl(row.workflowId);
  const read = resourcePathOf(row);
  return { ...(read === null ? {} : { read }), ...actionsOf(row), ...(url === null ? {} : { workflow: url }) };
}

/** The path of the resource that an item is about. */
function resourcePathOf({ kind, id, merchantId, environment, detail }: WorkItemRow): string | null {
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
    case 'PROPOSAL':
      return `/api/ops/proposals/${id}`;
    default:
      return null;
  }
}

function actionsOf({ kind, id, merchantId, detail }: WorkItemRow): ActionLinks {
  switch (kind) {
    case 'WITHDRAWAL_REVIEW':
      return actionLinks(`withdrawals/${id}`, 'approve', 'reject');
    case 'WITHDRAWAL_UNKNOWN':
    case 'WITHDRAWAL_CONFLICT':
      return actionLinks(`withdrawals/${id}`, 'resolve');
    case 'PAYMENT_HELD':
    case 'PAYMENT_DUPLICATE':
      return actionLinks(`transactions/${String(detail['transactionId'])}`, 'accept', 'reject');
    case 'SETTLEMENT_APPROVAL':
      return actionLinks(`settlements/${id}`, 'approve', 'reject');
    case 'SETTLEMENT_READY_TO_SEND':
      return actionLinks(`settlements/${id}`, 'sent', 'failed');
    case 'SETTLEMENT_OVERDUE':
      return actionLinks(`settlements/${id}`, 'credited', 'failed');
    case 'SETTLEMENT_CREDITED_LATE':
      return actionLinks(`settlements/${id}`, 'book-credit', 'dismiss-credit');
    case 'BANK_ACCOUNT':
      return actionLinks(`merchants/${merchantId}/bank-account`, 'verify', 'reject');
    case 'RECONCILIATION':
      return actionLinks(`reconciliation/differences/${id}`, 'close');
    case 'RECONCILIATION_FAILED':
    case 'RECONCILIATION_MISSING':
    case 'RECONCILIATION_PENDING':
      return actionLinks('reconciliation', 'run');
    case 'RECEIPT_UNALLOCATED':
      return actionLinks(`bank-money/${id}`, 'settle');
    case 'PAYOUT_OVERPAID':
      return id.startsWith('bkm_') ? actionLinks(`bank-money/${id}`, 'settle') : actionLinks('bank-money', 'excess');
    case 'CHANNEL_REQUEST':
      return actionLinks(`merchants/${merchantId}/channels/${String(detail['channel'])}`, 'approve', 'suspend');
    case 'KYC':
      return actionLinks(`merchants/${merchantId}/kyc`, 'approve', 'reject', 'request-info');
    case 'PROPOSAL':
      return actionLinks(`proposals/${id}`, 'confirm', 'reject');
    default:
      return {};
  }
}
