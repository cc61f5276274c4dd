import {
  createKey,
  revokeKey,
  rotateKey,
  type ApiKey,
  type MadeKey,
  type NewKey,
  type Rotation,
} from '../../access/api-keys.ts';
import type { AuditContext } from '../../access/audit.ts';
import { hasOperators } from '../../access/operators.ts';
import type { Action } from '../../access/permissions.ts';
import {
  addMerchant,
  createMerchantKey,
  revokeKeyOf,
  rotateKeyOf,
  onboardMerchant,
} from '../../backoffice/merchants.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Knex } from '../../lib/db.ts';
import type { Merchant } from '../../merchants/operations.ts';
import type { UnitOfWork, RunInTransaction } from '../../outbox/record.ts';
import { act } from './ops-decisions.ts';

export type TerminalDeps = {
  db: Knex;
  runInTransaction: RunInTransaction;
  clock: Clock;
  pepper: string;
  demoOperatorId: string;
};

/** Who acts: the operator that was named (opr_…), or else the demo data's. */
type By = { operator: string | undefined };

/**
 * What `meskot merchants` and `meskot keys` change, as an operator who may, and noted. While an installation has no
 * operator at all nobody can be asked, and nothing is noted.
 */
export function createTerminalCommands(deps: TerminalDeps) {
  const { db, runInTransaction, clock, pepper } = deps;
  const keyDeps = { pepper, clock };

  async function perform<T>(
    { action, operator }: By & { action: Action },
    asOperator: (context: AuditContext) => Promise<T>,
    byNobody: (tx: UnitOfWork) => Promise<T>,
  ): Promise<T> {
    if (operator === undefined && !(await hasOperators(db))) return runInTransaction(byNobody);
    return act(deps, { options: operator === undefined ? {} : { operator }, action }, asOperator);
  }

  return {
    addMerchant: (input: { name: string }, by: By): Promise<Merchant> =>
      perform(
        { ...by, action: 'merchant.create' },
        (context) => addMerchant(context, input),
        ({ trx }) => onboardMerchant(trx, input),
      ),
    generateKey: (input: NewKey, by: By): Promise<MadeKey> =>
      perform(
        { ...by, action: 'key.create' },
        (context) => createMerchantKey(context, input, keyDeps),
        ({ trx }) => createKey({ trx, ...keyDeps }, input),
      ),
    rotateKey: (input: Rotation, by: By): Promise<MadeKey> =>
      perform<MadeKey>(
        { ...by, action: 'key.rotate' },
        (context) => rotateKeyOf(context, input, keyDeps),
        ({ trx }) => rotateKey({ trx, ...keyDeps }, input),
      ),
    revokeKey: (input: Parameters<typeof revokeKeyOf>[1], by: By): Promise<ApiKey> =>
      perform(
        { ...by, action: 'key.revoke' },
        (context) => revokeKeyOf(context, input, clock),
        async ({ trx }) => (await revokeKey({ trx, clock }, input.keyId)).key,
      ),
  };
}
