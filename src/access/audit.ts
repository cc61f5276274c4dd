import type { z } from 'zod';

import { insertSql, rows, type Queryable } from '../lib/db.ts';
import { newId } from '../lib/ids.ts';
import { paginateNewest, whereGiven } from '../lib/paginate-newest.ts';
import { readDayRange, type Page } from '../lib/pagination.ts';
import type { UnitOfWork } from '../outbox/record.ts';
import type { AuditEntry as AuditEntrySchema, AuditQuery } from './operator-schema.ts';
import type { Action } from './permissions.ts';
import type { Actor } from './separation-of-duties.ts';

/**
 * A change that an operator makes: the transaction, the operator, the key if there is one, the request, the time.
 * `proposedBy`: the operator who has proposed what this one confirms.
 */
export type AuditContext = Actor & { tx: UnitOfWork; requestId: string; at: Date; proposedBy?: string };

/** What an operator's change was about; its route adds action and reason. `before`, `after`: the fields that differ, never a secret. */
export type AuditedChange = Pick<AuditRow, 'resourceType' | 'resourceId'> &
  Partial<Pick<AuditRow, 'merchantId' | 'environment' | 'before' | 'after'>>;

/** `proposedBy`: the operator who proposed what this one confirms. */
export type AuditEntry = AuditedChange & {
  action: Action;
  reason?: string | undefined;
  proposedBy?: string | undefined;
};

/** Writes a row of the audit log in the transaction of the change. The table is append-only. */
export async function recordAudit({ tx, operatorId, requestId, at }: AuditContext, entry: AuditEntry): Promise<void> {
  const {
    proposedBy = null,
    merchantId = null,
    environment = null,
    before = null,
    after = null,
    reason = null,
  } = entry;
  const { action, resourceType, resourceId } = entry;
  const what = { action, resourceType, resourceId, merchantId, environment, before, after, reason };
  const row = { id: newId('aud', at.getTime()), operatorId, proposedBy, ...what, requestId, occurredAt: at };
  await tx.writeDeferred(insertSql('operator_audit', row), row);
}

/** A row of `operator_audit`, with the names of its operators and its merchant. */
export type AuditRow = Omit<z.output<typeof AuditEntrySchema>, 'auditId' | 'at'> & { id: string; occurredAt: Date };

const WITH_NAMES = `(SELECT a.*, o.name AS operator_name, p.name AS proposed_by_name, m.name AS merchant_name
  FROM operator_audit a JOIN operator o ON o.id = a.operator_id
  LEFT JOIN operator p ON p.id = a.proposed_by LEFT JOIN merchant m ON m.id = a.merchant_id) audit`;

/** The audit log of some days, newest first. */
export async function listAudit(
  db: Queryable,
  { startDate, endDate, operatorId, action, resourceId, merchantId, environment }: z.output<typeof AuditQuery>,
  { page, at }: { page: Page; at: Date },
) {
  const given = whereGiven({ operatorId, action, resourceId, merchantId, environment });
  const where = `occurred_at >= :from AND occurred_at < :until AND ${given.where}`;
  const values = { ...given.values, ...readDayRange({ startDate, endDate }, at) };
  return paginateNewest<AuditRow>(db, { table: WITH_NAMES, time: 'occurred_at', where, values }, page);
}

/** What operators have decided about one resource, the oldest first. */
export async function auditOf(db: Queryable, resourceId: string): Promise<AuditRow[]> {
  const sql = `SELECT * FROM ${WITH_NAMES} WHERE resource_id = :resourceId ORDER BY occurred_at, id`;
  return rows<AuditRow>(db, sql, { resourceId });
}

/** A row of the audit log as operators see it. */
export function presentAudit({ id, occurredAt: at, ...row }: AuditRow) {
  return { auditId: id, ...row, at };
}
