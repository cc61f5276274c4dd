import { createOperatorKey, isValidKey } from '../../access/api-keys.ts';
import type { AuditContext } from '../../access/audit.ts';
import { createOperator, findOperator } from '../../access/operators.ts';
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

/** Another admin, who confirms what the first one proposes. */
export const SECOND_DEMO_OPERATOR = {
  id: 'opr_02DEM0PERAT0R0000000000000',
  name: 'Second demo operator',
  email: 'second.operator@demo.invalid',
  role: 'admin',
} as const;

type DemoOperator = typeof DEMO_OPERATOR | typeof SECOND_DEMO_OPERATOR;

/** Creates a demo operator. Idempotent. */
export async function ensureDemoOperator(trx: Trx, operator: DemoOperator = DEMO_OPERATOR): Promise<void> {
  await findOperator(trx, operator.id).catch(async (error: unknown) => {
    if (!(error instanceof AppError && error.code === 'NOT_FOUND')) throw error;
    await createOperator(trx, operator);
  });
}

/** The audit context of the demo operator's past actions. */
export function demoContext(tx: UnitOfWork, at: Date): AuditContext {
  return { tx, operatorId: DEMO_OPERATOR.id, requestId: newId('req', at.getTime()), at };
}

type RecalledKey = { stored: string | undefined; peppers: readonly [string, ...string[]] };

/** A demo operator's key: the stored one if it is still valid, else a new one. */
export async function recallOperatorKey(
  db: Database,
  operator: DemoOperator,
  { stored, peppers }: RecalledKey,
): Promise<string> {
  if (stored !== undefined && (await isValidKey(db, stored, peppers))) return stored;
  return db.transaction(async (trx) => {
    await ensureDemoOperator(trx, operator);
    const deps = { trx, pepper: peppers[0], clock: systemClock };
    return (await createOperatorKey(deps, { operatorId: operator.id, name: 'Local development' })).secret;
  });
}
