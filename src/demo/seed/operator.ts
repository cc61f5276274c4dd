import type { AuditContext } from '../../access/audit.ts';
import { createOperator, findOperator, createOperatorKey, operatorKeyHolds } from '../../access/operators.ts';
import { systemClock } from '../../lib/clock.ts';
import type { Database, Trx } from '../../lib/db.ts';
import { AppError } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import type { UnitOfWork } from '../../outbox/record.ts';

/** The operator of the demo data, with a constant id: the key of `npm start` is this operator's. */
export const DEMO_OPERATOR = {
  id: 'opr_01DEM0PERAT0R0000000000000',
  name: 'Demo operator',
  email: 'operator@demo.invalid',
  role: 'admin',
} as const;

/** Creates the demo operator. Idempotent. */
export async function ensureDemoOperator(trx: Trx): Promise<void> {
  await findOperator(trx, DEMO_OPERATOR.id).catch(async (error: unknown) => {
    if (!(error instanceof AppError && error.code === 'NOT_FOUND')) throw error;
    await createOperator(trx, DEMO_OPERATOR);
  });
}

/** The audit context of the demo operator's past actions. */
export function demoContext(tx: UnitOfWork, at: Date): AuditContext {
  return { tx, operatorId: DEMO_OPERATOR.id, requestId: newId('req', at.getTime()), at };
}

/** The demo operator's key: the stored one if it is still valid, else a new one. */
export async function recallOperatorKey(
  db: Database,
  { stored, peppers }: { stored: string | undefined; peppers: readonly [string, ...string[]] },
): Promise<string> {
  if (stored !== undefined && (await operatorKeyHolds(db, { text: stored, peppers, at: systemClock() }))) return stored;
  return db.transaction(async (trx) => {
    await ensureDemoOperator(trx);
    const deps = { trx, pepper: peppers[0], clock: systemClock };
    return (await createOperatorKey(deps, { operatorId: DEMO_OPERATOR.id, name: 'Local development' })).secret;
  });
}
