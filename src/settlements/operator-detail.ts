import { actionLinks, type ActionLinks } from '../access/operator-route.ts';
import { BANKS } from '../lib/banks.ts';
import { isoOrNull } from '../lib/dates.ts';
import type { Queryable } from '../lib/db.ts';
import { toBirr } from '../lib/money.ts';
import { readTimeline } from '../lib/timeline.ts';
import { readRequestedBy } from '../merchants/requested-by.ts';
import { presentForOperators } from './present.ts';
import { readSettledBefore, readSettlement, type SettlementRow } from './queries.ts';

/** A settlement with everything that its approval and its transfer need. Throws NOT_FOUND. */
export async function readOperatorDetail(db: Queryable, settlementId: string) {
  const row = await readSettlement(db, settlementId);
  const [requested, before, timeline] = await Promise.all([
    readRequestedBy(db, row),
    readSettledBefore(db, row),
    readTimeline(db, row.id),
  ]);
  return {
    ...presentForOperators(row),
    ...requested,
    bankName: BANKS[row.bankCode],
    settledBefore: { count: before.count, amount: toBirr(before.santim), lastAt: isoOrNull(before.lastAt) },
    overdueAt: isoOrNull(row.overdueAt),
    timeline,
    links: linksOf(row),
  };
}

function linksOf({ id, status, lateCredit, lateCreditResolution }: SettlementRow): ActionLinks {
  const path = `settlements/${id}`;
  switch (status) {
    case 'REQUESTED':
      return actionLinks(path, 'approve', 'reject');
    case 'APPROVED':
      return actionLinks(path, 'sent', 'failed');
    case 'PROCESSING':
      return actionLinks(path, 'credited', 'failed');
    case 'COMPLETED':
      return actionLinks(path, 'returned');
    case 'FAILED':
      return lateCredit !== null && lateCreditResolution === null
        ? actionLinks(path, 'book-credit', 'dismiss-credit')
        : {};
    case 'REJECTED':
    case 'CANCELLED':
      return {};
    default:
      return status satisfies never;
  }
}
