import type { AuditContext } from '../../access/audit.ts';
import { createOperator, findOperator } from '../../access/operators.ts';
import type { Trx } from '../../lib/db.ts';
import { AppError } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import type { UnitOfWork } from '../../outbox/record.ts';

/** The operators of the demo data, with constant ids: one confirms what the other proposes. */
export const DEMO_OPERATORS = [
  {
    id: 'opr_01DEM0PERAT0R0000000000000',
    name: 'Demo operator',
    email: 'operator@demo.invalid',
    role: 'admin',
  },
  {
    id: 'opr_02DEM0PERAT0R0000000000000',
    name: 'Second demo operator',
    email: 'second.operator@demo.invalid',
    role: 'admin',
  },
] as const;

type DemoOperator = (typeof DEMO_OPERATORS)[number];

/** Creates a demo operator. Idempotent. */
export async function ensureDemoOperator(trx: Trx, operator: DemoOperator): Promise<void> {
  await findOperator(trx, operator.id).catch(async (error: unknown) => {
    if (!(error instanceof AppError && error.code === 'NOT_FOUND')) throw error;
    await createOperator(trx, operator);
  });
}

/** The audit context of the first demo operator's past actions. */
export function demoContext(tx: UnitOfWork, at: Date): AuditContext {
  return { tx, operatorId: DEMO_OPERATORS[0].id, requestId: newId('req', at.getTime()), at };
}
