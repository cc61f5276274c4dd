import { listPeriod, readPeriod, sumPeriod } from '../ledger/statement.ts';
import type { Queryable } from '../lib/db.ts';
import { toBirr } from '../lib/money.ts';
import type { Page } from '../lib/pagination.ts';
import type { SettlementRow } from './model.ts';

/**
 * A settlement's statement: every movement of the available account since the settlement before it, up to and with its
 * own. Opening and all movements make closing, which is what the next statement opens with; none of it ever changes.
 */
export async function readStatement(db: Queryable, row: SettlementRow, page: Page) {
  const period = await readPeriod(db, row, row.id);
  if (!period) throw new Error(`settlement ${row.id} has no journal`);
  const [totals, { rows, pagination }] = await Promise.all([sumPeriod(db, period), listPeriod(db, period, page)]);
  const data = {
    settlementId: row.id,
    requestId: row.requestId,
    status: row.status,
    currency: row.currency,
    amount: toBirr(row.amountSantim),
    ...(row.bankReference === null ? {} : { bankReference: row.bankReference }),
    ...(row.creditedAt === null ? {} : { creditedAt: row.creditedAt.toISOString() }),
    previousSettlementId: period.previousSettlementId,
    periodFrom: period.from?.toISOString() ?? null,
    periodUntil: period.until.toISOString(),
    openingBalance: toBirr(period.openingSantim),
    closingBalance: toBirr(period.closingSantim),
    totals: totals.map(({ type, count, amountSantim }) => ({ type, count, amount: toBirr(amountSantim) })),
    movements: rows.map((movement) => ({
      entryId: `${movement.journalId}-${movement.entry}`,
      journalId: movement.journalId,
      type: movement.type,
      amount: toBirr(movement.amountSantim),
      balanceAfter: toBirr(movement.balanceAfterSantim),
      resourceType: movement.resourceType,
      resourceId: movement.resourceId,
      createdAt: movement.effectiveAt.toISOString(),
    })),
  };
  return { data, pagination };
}
