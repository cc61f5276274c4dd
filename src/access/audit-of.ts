import { rows, type Queryable } from '../lib/db.ts';
import type { AuditRow } from './audit.ts';

/** What operators have decided about one thing, the oldest first. */
export async function auditOf(db: Queryable, resourceId: string): Promise<AuditRow[]> {
  return rows<AuditRow>(
    db,
    `SELECT a.*, o.name AS operator_name FROM operator_audit a JOIN operator o ON o.id = a.operator_id
     WHERE a.resource_id = :resourceId ORDER BY a.occurred_at, a.id`,
    { resourceId },
  );
}
