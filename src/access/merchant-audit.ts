import type { AuditRow } from '../http/audit.ts';
import { insertSql, type Queryable } from '../lib/db.ts';
import { newId } from '../lib/ids.ts';
import { allOf, countUpTo, paginateNewest, readNewest, whereGiven, type ListPart } from '../lib/paginate-newest.ts';
import type { DayRange, Page } from '../lib/pagination.ts';
import type { MerchantScope } from '../lib/scope.ts';
import type { UnitOfWork } from '../outbox/record.ts';

/** Writes a row of the merchant's audit log in the transaction of the change. The table is append-only. */
export async function recordMerchantAudit(tx: Pick<UnitOfWork, 'writeDeferred'>, entry: AuditRow): Promise<void> {
  const row = { id: newId('mau', entry.occurredAt.getTime()), ...entry };
  await tx.writeDeferred(insertSql('merchant_audit', row), row);
}

/** A row of `merchant_audit`, with the name of the person or the key. */
export type MerchantAuditRow = AuditRow & { id: string; actorName: string | null; position: string };

const WITH_NAMES = `(SELECT a.*, coalesce(u.name, nullif(k.name, '')) AS actor_name FROM merchant_audit a
  LEFT JOIN user_account u ON u.id = a.actor LEFT JOIN api_key k ON k.id = a.actor) audit`;

/** Filters of the list; undefined matches everything. */
export type MerchantAuditFilter = MerchantScope & { range: DayRange } & {
  [Column in 'actor' | 'action' | 'resourceId' | 'requestId']?: string | undefined;
} & {
  /** The only actor whose changes are shown, whatever the filter. */
  own?: string;
};

/** Changes of one environment, and those that are of both. */
function listed({ merchantId, environment, range, own, ...filter }: MerchantAuditFilter) {
  const given = whereGiven(filter);
  return {
    table: WITH_NAMES,
    time: 'occurred_at',
    where: allOf([
      'merchant_id = :merchantId AND (environment = :environment OR environment IS NULL)',
      'occurred_at >= :from AND occurred_at < :until',
      given.where,
      own !== undefined && 'actor = :own',
    ]),
    values: { ...given.values, ...range, own, merchantId, environment },
  };
}

/** A page of a merchant's audit log, newest first. */
export async function listMerchantAudit(db: Queryable, filter: MerchantAuditFilter, page: Page) {
  return paginateNewest<MerchantAuditRow>(db, listed(filter), page);
}

/** At most `limit` rows of the same list, after a position. */
export async function readMerchantAudit(db: Queryable, filter: MerchantAuditFilter, part: ListPart) {
  return readNewest<MerchantAuditRow>(db, listed(filter), part);
}

/** The number of rows of the same list, counted up to `most`. */
export async function countMerchantAudit(db: Queryable, filter: MerchantAuditFilter, most: number): Promise<number> {
  return countUpTo(db, listed(filter), most);
}
