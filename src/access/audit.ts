import { rows, type Queryable } from '../lib/db.ts';
import { newId } from '../lib/ids.ts';
import { paginateNewest } from '../lib/paginate-newest.ts';
import type { DayRange, Page } from '../lib/pagination.ts';
import type { Environment } from '../lib/scope.ts';
import type { UnitOfWork } from '../outbox/record.ts';
import type { Action } from './permissions.ts';
import type { Actor } from './separation-of-duties.ts';

/** A change that an operator makes: the transaction, the operator, the key if there is one, the request, the time. */
export type AuditContext = Actor & { tx: UnitOfWork; requestId: string; at: Date };

/** The kinds of resources that operators change. */
export const RESOURCE_TYPES = [
  'merchant',
  'key',
  'channel',
  'withdrawal',
  'settlement',
  'bankAccount',
  'kyc',
  'reconciliation',
  'difference',
  'bankMoney',
  'transaction',
  'holiday',
  'operator',
  'operatorKey',
  'invitation',
  'proposal',
] as const;
export type ResourceType = (typeof RESOURCE_TYPES)[number];

export type AuditEntry = {
  action: Action;
  resourceType: ResourceType;
  resourceId: string;
  /** The merchant that it is about, if there is one. */
  merchantId?: string;
  environment?: Environment;
  /** The fields that differ, as the API presents them. Never a secret. */
  before?: Readonly<Record<string, unknown>>;
  after?: Readonly<Record<string, unknown>>;
  reason?: string | undefined;
  /** The operator who proposed what this one confirms. */
  proposedBy?: string | undefined;
};

/** What an operator's change was about; its route adds action and reason. */
export type AuditedChange = Omit<AuditEntry, 'action' | 'reason' | 'proposedBy'>;

/** Writes a row of the audit log in the transaction of the change. The table is append-only. */
export async function recordAudit({ tx, operatorId, requestId, at }: AuditContext, entry: AuditEntry): Promise<void> {
  await tx.writeDeferred(
    `INSERT INTO operator_audit (id, operator_id, proposed_by, action, resource_type, resource_id, merchant_id, environment,
                                 before, after, reason, request_id, occurred_at)
     VALUES (:id, :operatorId, :proposedBy, :action, :resourceType, :resourceId, :merchantId, :environment,
             CAST(:before AS jsonb), CAST(:after AS jsonb), :reason, :requestId, :at)`,
    {
      id: newId('aud', at.getTime()),
      operatorId,
      proposedBy: entry.proposedBy ?? null,
      action: entry.action,
      resourceType: entry.resourceType,
      resourceId: entry.resourceId,
      merchantId: entry.merchantId ?? null,
      environment: entry.environment ?? null,
      before: entry.before ? JSON.stringify(entry.before) : null,
      after: entry.after ? JSON.stringify(entry.after) : null,
      reason: entry.reason ?? null,
      requestId,
      at,
    },
  );
}

/** A row of `operator_audit`, with the operator's name. */
export type AuditRow = {
  id: string;
  operatorId: string;
  operatorName: string;
  proposedBy: string | null;
  action: Action;
  resourceType: ResourceType;
  resourceId: string;
  merchantId: string | null;
  environment: Environment | null;
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
  reason: string | null;
  requestId: string;
  occurredAt: Date;
};

/** Filters of the list; undefined matches everything. */
export type AuditFilter = {
  range: DayRange;
  operatorId?: string | undefined;
  action?: Action | undefined;
  resourceId?: string | undefined;
  merchantId?: string | undefined;
  environment?: Environment | undefined;
};

const WITH_NAMES = `(SELECT a.*, o.name AS operator_name FROM operator_audit a JOIN operator o ON o.id = a.operator_id) audit`;

const MATCHES = `occurred_at >= :from AND occurred_at < :until
  AND (CAST(:operatorId AS text) IS NULL OR operator_id = :operatorId)
  AND (CAST(:action AS text) IS NULL OR action = :action)
  AND (CAST(:resourceId AS text) IS NULL OR resource_id = :resourceId)
  AND (CAST(:merchantId AS text) IS NULL OR merchant_id = :merchantId)
  AND (CAST(:environment AS text) IS NULL OR environment = :environment)`;

/** The audit log, newest first. */
export async function listAudit(db: Queryable, filter: AuditFilter, page: Page) {
  const values = {
    from: filter.range.from,
    until: filter.range.until,
    operatorId: filter.operatorId ?? null,
    action: filter.action ?? null,
    resourceId: filter.resourceId ?? null,
    merchantId: filter.merchantId ?? null,
    environment: filter.environment ?? null,
  };
  return paginateNewest<AuditRow>(
    db,
    { columns: '*', table: WITH_NAMES, time: 'occurred_at', where: MATCHES, values },
    page,
  );
}

/** What operators have decided about one resource, the oldest first. */
export async function auditOf(db: Queryable, resourceId: string): Promise<AuditRow[]> {
  const sql = `SELECT * FROM ${WITH_NAMES} WHERE resource_id = :resourceId ORDER BY occurred_at, id`;
  return rows<AuditRow>(db, sql, { resourceId });
}

/** A row of the audit log as operators see it. */
export function presentAudit({ id, occurredAt: at, ...row }: AuditRow) {
  return { auditId: id, ...row, at: at.toISOString() };
}
