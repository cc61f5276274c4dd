import {
  createKey,
  revokeKey,
  rotateKey,
  type ApiKey,
  type MadeKey,
  type NewKey,
  type Rotation,
} from '../keys/operations.ts';
import type { Clock } from '../lib/clock.ts';
import type { Knex } from '../lib/db.ts';
import type { Change, RunChange } from '../lib/outbox.ts';
import type { Merchant } from '../merchants/operations.ts';
import type { Deed } from './audit.ts';
import { act } from './cli-deeds.ts';
import { addMerchant, makeKeyFor, revokeKeyOf, rotateKeyOf, startMerchant } from './merchants.ts';
import { hasOperators } from './operators.ts';
import type { Action } from './permits.ts';

export type TerminalDeps = { db: Knex; runChange: RunChange; clock: Clock; pepper: string; demoOperatorId: string };

/** Who acts: the operator that was named (opr_…), or else the demo data's. */
type By = { operator: string | undefined };

/**
 * What `meskot merchants` and `meskot keys` change, as an operator who may, and noted. While an installation has no
 * operator at all nobody can be asked, and nothing is noted.
 */
export function createTerminalDeeds(deps: TerminalDeps) {
  const { db, runChange, clock, pepper } = deps;
  const keyDeps = { pepper, clock };

  async function perform<T>(
    { action, operator }: By & { action: Action },
    asOperator: (deed: Deed) => Promise<T>,
    byNobody: (change: Change) => Promise<T>,
  ): Promise<T> {
    if (operator === undefined && !(await hasOperators(db))) return runChange(byNobody);
    return act(deps, { options: operator === undefined ? {} : { operator }, action }, asOperator);
  }

  return {
    addMerchant: (input: { name: string }, by: By): Promise<Merchant> =>
      perform(
        { ...by, action: 'merchant.create' },
        (deed) => addMerchant(deed, input),
        ({ trx }) => startMerchant(trx, input),
      ),
    makeKey: (input: NewKey, by: By): Promise<MadeKey> =>
      perform(
        { ...by, action: 'key.create' },
        (deed) => makeKeyFor(deed, input, keyDeps),
        ({ trx }) => createKey({ trx, ...keyDeps }, input),
      ),
    rotateKey: (input: Rotation, by: By): Promise<MadeKey> =>
      perform<MadeKey>(
        { ...by, action: 'key.rotate' },
        (deed) => rotateKeyOf(deed, input, keyDeps),
        ({ trx }) => rotateKey({ trx, ...keyDeps }, input),
      ),
    revokeKey: (input: Parameters<typeof revokeKeyOf>[1], by: By): Promise<ApiKey> =>
      perform(
        { ...by, action: 'key.revoke' },
        (deed) => revokeKeyOf(deed, input, clock),
        async ({ trx }) => (await revokeKey({ trx, clock }, input.keyId)).key,
      ),
  };
}
