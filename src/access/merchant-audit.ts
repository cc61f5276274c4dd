import type { AuditRow } from '../http/audit.ts';
import { insertSql } from '../lib/db.ts';
import { newId } from '../lib/ids.ts';
import { allOf, whereGiven, type Listed } from '../lib/paginate-newest.ts';
import type { DayRange } from '../lib/pagination.ts';
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

/** `given`: filters of columns; undefined matches everything. `own`: the only actor whose changes are shown. */
export type MerchantAuditFilter = MerchantScope & {
  range: DayRange;
  given: { [Column in 'actor' | 'action' | 'resourceId' | 'requestId']: string | undefined };
  own: string | undefined;
};

/** A merchant's audit log: the changes of one environment, and those that are of both; newest first. */
export function merchantAudit({ merchantId, environment, range, given, own }: MerchantAuditFilter): Listed {
  const { where, values } = whereGiven(given);
  return {
    table: WITH_NAMES,
    time: 'occurred_at',
    where: allOf([
      'merchant_id = :merchantId AND (environment = :environment OR environment IS NULL)',
      'occurred_at >= :from AND occurred_at < :until',
      where,
      own !== undefined && 'actor = :own',
    ]),
    values: { ...values, ...range, own, merchantId, environment },
  };
}
