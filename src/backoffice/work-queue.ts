import { z } from 'zod';

import { withNames } from '../access/names.ts';
import { actionLinks, operatorReadRoute, type ActionLinks, type WorkflowUrl } from '../access/operator-route.ts';
import { environment, id, temporalUrl } from '../access/operator-schema.ts';
import { PROPOSAL_REVIEW_ITEMS } from '../access/proposals.ts';
import type { Endpoint, Route } from '../http/route.ts';
import { rows, type Database, type Queryable } from '../lib/db.ts';
import { instant } from '../lib/fields.ts';
import { toBirr, type Santim } from '../lib/money.ts';
import { pageOffset, pageQuery, readPage, statusParam, toPage, type Page } from '../lib/pagination.ts';
import type { Environment } from '../lib/scope.ts';
import { CHANNEL_REVIEW_ITEMS } from '../merchants/channels/queries.ts';
import { KYC_REVIEW_ITEMS } from '../merchants/kyc/queries.ts';
import { STALLED_OUTBOX, type WorkItemSource } from '../outbox/work-items.ts';
import { STALLED_PAYMENTS, PAYMENT_REVIEW_ITEMS } from '../payments/monitoring.ts';
import { REFUND_REVIEW_ITEMS, STALLED_REFUNDS } from '../payouts/refunds/monitoring.ts';
import { STALLED_WITHDRAWALS, WITHDRAWAL_REVIEW_ITEMS } from '../payouts/withdrawals/monitoring.ts';
import { CREDENTIAL_REVIEW_ITEMS } from '../providers/credentials/queries.ts';
import { RECEIPT_REVIEW_ITEMS, DISCREPANCY_REVIEW_ITEMS, STALLED_RUNS } from '../reconciliation/monitoring.ts';
import { STALLED_REPORTS } from '../reports/workflow.ts';
import { BANK_ACCOUNT_REVIEW_ITEMS, SETTLEMENT_REVIEW_ITEMS, STALLED_SETTLEMENTS } from '../settlements/monitoring.ts';
import { DEAD_LETTER_ITEMS, STALLED_DELIVERIES } from '../webhooks/delivery/workflow.ts';

/** Everything that needs an operator, by slice. */
export const REVIEW_ITEMS = joined([
  WITHDRAWAL_REVIEW_ITEMS,
  PAYMENT_REVIEW_ITEMS,
  REFUND_REVIEW_ITEMS,
  SETTLEMENT_REVIEW_ITEMS,
  BANK_ACCOUNT_REVIEW_ITEMS,
  KYC_REVIEW_ITEMS,
  CHANNEL_REVIEW_ITEMS,
  CREDENTIAL_REVIEW_ITEMS,
  DISCREPANCY_REVIEW_ITEMS,
  RECEIPT_REVIEW_ITEMS,
  PROPOSAL_REVIEW_ITEMS,
  DEAD_LETTER_ITEMS,
]);

/** Everything that is stalled: overdue without an operator having to act. */
export const STALLED_ITEMS = joined([
  STALLED_OUTBOX,
  STALLED_DELIVERIES,
  STALLED_PAYMENTS,
  STALLED_REFUNDS,
  STALLED_WITHDRAWALS,
  STALLED_SETTLEMENTS,
  STALLED_RUNS,
  STALLED_REPORTS,
]);

function joined(sources: readonly WorkItemSource[]): WorkItemSource {
  return { kinds: sources.flatMap(({ kinds }) => kinds), sql: sources.map(({ sql }) => sql).join('\nUNION ALL\n') };
}

export type WorkItemRow = Pick<
  z.output<typeof WorkItem>,
  'kind' | 'id' | 'merchantId' | 'environment' | 'what' | 'detail'
> & {
  amountSantim: Santim | null;
  since: Date;
  workflowId: string | null;
};

/** Filters of the list; undefined and null match everything. An item without an environment matches both. */
type Filter = {
  kind?: readonly string[] | null | undefined;
  merchantId?: string | undefined;
  environment?: Environment | undefined;
};

/** One page, longest waiting first, and the number of items of each kind, whichever kinds are listed. */
export async function listWorkItems(
  db: Queryable,
  { sql, kinds }: WorkItemSource,
  { filter, page, at }: { filter: Filter; page: Page; at: Date },
) {
  const { kind, merchantId = null, environment = null } = filter;
  const matching = `SELECT * FROM (${sql}) each
    WHERE (CAST(:merchantId AS text) IS NULL OR merchant_id = :merchantId)
      AND (CAST(:environment AS text) IS NULL OR environment IS NULL OR environment = :environment)`;
  const wanted = kind ?? kinds;
  const values = { at, merchantId, environment };
  const after = { afterAt: page.after?.at ?? null, afterId: page.after?.id ?? null };
  const [counted, found] = await Promise.all([
    rows<{ kind: string; total: number }>(
      db,
      `SELECT kind, count(*)::int AS total FROM (${matching}) item GROUP BY kind`,
      values,
    ),
    rows<WorkItemRow & { position: string }>(
      db,
      `SELECT *, since::text AS position FROM (${matching}) item
       WHERE kind = ANY (:wanted)
         AND (CAST(:afterId AS text) IS NULL OR (since, id) > (CAST(:afterAt AS timestamptz), :afterId))
       ORDER BY since, id LIMIT :most OFFSET :offset`,
      { ...values, ...after, wanted: [...wanted], most: page.limit + 1, offset: pageOffset(page) },
    ),
  ]);
  const totals = new Map(counted.map((one) => [one.kind, one.total]));
  const counts = Object.fromEntries(kinds.map((one) => [one, totals.get(one) ?? 0]));
  const total = wanted.reduce((sum, one) => sum + (counts[one] ?? 0), 0);
  return { ...toPage(page, total, found), counts };
}

/** The resources of items by the first word of their kind. Names in braces are fields of an item or its detail. */
const RESOURCES: Readonly<Record<string, string>> = {
  BANK: 'merchants/{merchantId}/bank-account?environment={environment}',
  CHANNEL: 'merchants/{merchantId}',
  CREDENTIALS: 'merchants/{merchantId}/channels/{channel}/credentials',
  DEAD: 'webhooks/deliveries/{id}',
  KYC: 'merchants/{merchantId}/kyc?environment={environment}',
  PAYMENT: 'transactions/{transactionId}',
  PAYOUT: 'withdrawals/{withdrawalId}',
  PROPOSAL: 'proposals/{id}',
  REFUND: 'refunds/{id}',
  SETTLEMENT: 'settlements/{id}',
  WITHDRAWAL: 'withdrawals/{id}',
};

/** The commands that a kind allows: a path and the verbs below it. */
const COMMANDS: Readonly<Record<string, readonly [path: string, ...verbs: string[]]>> = {
  BANK_ACCOUNT: ['merchants/{merchantId}/bank-account', 'verify', 'reject'],
  CHANNEL_REQUEST: ['merchants/{merchantId}/channels/{channel}', 'approve', 'suspend'],
  CREDENTIALS_ENDING: ['merchants/{merchantId}/channels/{channel}/credentials/{id}', 'revoke'],
  CREDENTIALS_PENDING: ['merchants/{merchantId}/channels/{channel}/credentials/{id}', 'check', 'activate', 'revoke'],
  DEAD_LETTER: ['webhooks/deliveries/{id}', 'resend', 'dismiss'],
  KYC: ['merchants/{merchantId}/kyc', 'approve', 'reject', 'request-info'],
  PAYMENT_DUPLICATE: ['transactions/{transactionId}', 'accept', 'reject'],
  PAYMENT_HELD: ['transactions/{transactionId}', 'accept', 'reject'],
  PAYOUT_OVERPAID: ['receipts', 'recoveries'],
  PROPOSAL: ['proposals/{id}', 'confirm', 'reject'],
  RECEIPT_UNALLOCATED: ['receipts/{id}', 'decide'],
  RECONCILIATION: ['reconciliation/discrepancies/{id}', 'close'],
  RECONCILIATION_FAILED: ['reconciliation', 'run'],
  RECONCILIATION_MISSING: ['reconciliation', 'run'],
  RECONCILIATION_PENDING: ['reconciliation', 'run'],
  REFUND_CONFLICT: ['refunds/{id}', 'resolve'],
  REFUND_OVERPAID: ['receipts', 'refund-recoveries'],
  REFUND_UNKNOWN: ['refunds/{id}', 'resolve'],
  SETTLEMENT_APPROVAL: ['settlements/{id}', 'approve', 'reject'],
  SETTLEMENT_CREDITED_LATE: ['settlements/{id}', 'book-credit', 'dismiss-credit'],
  SETTLEMENT_OVERDUE: ['settlements/{id}', 'credited', 'failed'],
  SETTLEMENT_READY_TO_SEND: ['settlements/{id}', 'sent', 'failed'],
  WITHDRAWAL_CONFLICT: ['withdrawals/{id}', 'resolve'],
  WITHDRAWAL_REVIEW: ['withdrawals/{id}', 'approve', 'reject'],
  WITHDRAWAL_UNKNOWN: ['withdrawals/{id}', 'resolve'],
};

function linksOf(row: WorkItemRow): ActionLinks {
  const fields: Record<string, unknown> = { ...row.detail, ...row };
  const filled = (path: string): string => path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(fields[name]));
  const resource = RESOURCES[row.kind.replace(/_.*/, '')];
  // A recovery that was booked already is decided as a receipt.
  const isBooked = row.kind === 'PAYOUT_OVERPAID' && row.id.startsWith('rcp_');
  const [path, ...verbs] = COMMANDS[isBooked ? 'RECEIPT_UNALLOCATED' : row.kind] ?? [''];
  return {
    ...(resource !== undefined && { read: `/api/ops/${filled(resource)}` }),
    ...actionLinks(filled(path), ...verbs),
  };
}

const WorkItem = z
  .object({
    kind: z.string(),
    id: z.string(),
    merchantId: z.string().nullable(),
    merchantName: z.string().nullable(),
    environment: environment.nullable(),
    amount: z.number().optional().describe('ETB'),
    since: instant.describe('Since when it needs an operator, or is overdue'),
    waitingSeconds: z.int(),
    what: z.string(),
    detail: z.record(z.string(), z.unknown()).describe('Facts by kind; ids of people with their names'),
    temporalUrl,
    links: z.record(z.string(), z.string()).describe('Paths of this API by verb'),
  })
  .meta({ id: 'OpsWorkItem' });

export const WorkItemList = z
  .object({
    counts: z.record(z.string(), z.int()).describe('The number of items of each kind'),
    items: z.array(WorkItem),
  })
  .meta({ id: 'OpsWorkList' });

/** Fields of details with ids of people and keys. */
const DETAIL_NAMES = ['createdBy', 'requestedBy', 'proposedBy'];

type Deps = { db: Database; workflowUrl: WorkflowUrl };

/** The work queue: what operators must review, and what is stalled. */
export function workQueueRoutes({ db, workflowUrl }: Deps): Route[] {
  const route = (
    endpoint: Endpoint<'GET'>,
    source: WorkItemSource,
    declared: Pick<Route, 'operationId' | 'cli' | 'summary'>,
  ): Route =>
    operatorReadRoute(endpoint, {
      ...declared,
      query: z.strictObject({
        kind: statusParam(source.kinds).optional(),
        merchantId: id.optional(),
        environment: environment.optional(),
        ...pageQuery,
      }),
      responses: { 200: WorkItemList },
      paginated: true,
      handle: async ({ query, at }) => {
        const page = readPage(query);
        const { rows, pagination, counts } = await listWorkItems(db, source, { filter: query, page, at });
        const facts = rows.map(({ detail }) => detail);
        const details = await withNames(db, facts, DETAIL_NAMES);
        const named = await withNames(db, rows, ['merchantId']);
        const items = named.map((row, index) => ({
          ...row,
          detail: details[index],
          amount: row.amountSantim === null ? undefined : toBirr(row.amountSantim),
          waitingSeconds: Math.max(0, Math.round((at.getTime() - row.since.getTime()) / 1000)),
          temporalUrl: row.workflowId === null ? null : workflowUrl(row.workflowId),
          links: linksOf(row),
        }));
        return { message: 'Retrieved', data: { counts, items }, pagination };
      },
    });
  return [
    route('GET /api/ops/queue', REVIEW_ITEMS, {
      operationId: 'opsListQueue',
      cli: { name: 'work list', columns: 'since kind id merchantName amount what' },
      summary: 'List everything that needs an operator, longest waiting first',
    }),
    route('GET /api/ops/stalled', STALLED_ITEMS, {
      operationId: 'opsListStalled',
      cli: 'work list --stalled',
      summary: 'List everything that is stalled, most overdue first',
    }),
  ];
}
