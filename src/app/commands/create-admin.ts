import { recordAudit } from '../../access/audit.ts';
import { presentOperator } from '../../access/operator-routes.ts';
import { createOperator, createOperatorKey } from '../../access/operators.ts';
import { systemClock } from '../../lib/clock.ts';
import type { Database } from '../../lib/db.ts';
import { newId } from '../../lib/ids.ts';
import { createTransactionRunner } from '../../outbox/record.ts';

/**
 * `meskot operators create --admin`: creates an admin with a key from the server's shell, audited as its own creator:
 * the first operator, and a second one whose key no other operator can know. Throws DUPLICATE_REFERENCE.
 */
export async function createAdmin(
  { db, pepper }: { db: Database; pepper: string },
  { name, email }: { name: string; email: string },
) {
  // The worker forwards the outbox to Temporal.
  return createTransactionRunner(db, () => {})(async (tx) => {
    const input = { name, email, role: 'admin' } as const;
    const operator = await createOperator(tx.trx, input);
    const operatorId = operator.id;
    const context = { tx, operatorId, requestId: newId('req'), at: systemClock() };
    const reason = "From the server's shell";
    const about = { resourceType: 'operator', resourceId: operatorId, after: input } as const;
    await recordAudit(context, { action: 'operator.create', ...about, reason });
    const { key, secret } = await createOperatorKey({ trx: tx.trx, pepper, clock: systemClock }, { operatorId });
    const after = { operatorId, name: key.name, expiresAt: key.expiresAt };
    const created = { resourceType: 'operatorKey', resourceId: key.id, after } as const;
    await recordAudit(context, { action: 'operator-key.create', ...created, reason });
    return { ...presentOperator(operator), keyId: key.id, secret };
  });
}
