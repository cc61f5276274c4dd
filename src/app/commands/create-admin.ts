import { aboutKey, createOperatorKey } from '../../access/api-keys.ts';
import { recordAudit } from '../../access/audit.ts';
import { createOperator, hasActiveAdmin, presentOperator } from '../../access/operators.ts';
import { systemClock } from '../../lib/clock.ts';
import type { Database } from '../../lib/db.ts';
import { AppError } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { lock } from '../../lib/lock.ts';
import { createTransactionRunner } from '../../outbox/record.ts';

/**
 * `meskot operators create --admin`: creates the first admin with a key from the server's shell, audited as its own
 * creator. Throws INVALID_STATE while there is an active admin, who can invite others; DUPLICATE_REFERENCE.
 */
export async function createAdmin(
  { db, pepper }: { db: Database; pepper: string },
  { name, email }: { name: string; email: string },
) {
  // The worker forwards the outbox to Temporal.
  return createTransactionRunner(db, () => {})(async (tx) => {
    await lock(tx.trx, 'operators', 'all');
    if (await hasActiveAdmin(tx.trx)) {
      throw new AppError('INVALID_STATE', 'There is an active admin already, who can create operators.');
    }
    const input = { name, email, role: 'admin' } as const;
    const operator = await createOperator(tx.trx, input);
    const operatorId = operator.id;
    const context = { tx, operatorId, requestId: newId('req'), at: systemClock() };
    const reason = "From the server's shell";
    const about = { resourceType: 'operator', resourceId: operatorId, after: input } as const;
    await recordAudit(context, { action: 'operator.create', ...about, reason });
    const { key, secret } = await createOperatorKey({ trx: tx.trx, pepper, clock: systemClock }, { operatorId });
    const after = { operatorId, name: key.name, expiresAt: key.expiresAt };
    await recordAudit(context, { action: 'operator-key.create', ...aboutKey(key), after, reason });
    const createdAt = operator.createdAt.toISOString();
    return { ...presentOperator(operator), createdAt, keyId: key.id, secret };
  });
}
