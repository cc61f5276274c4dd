import {
  createKey,
  revokeKey,
  rotateKey,
  type ApiKey,
  type CreatedKey,
  type NewKey,
  type Rotation,
} from '../../access/api-keys.ts';
import type { AuditContext, AuditedChange } from '../../access/audit.ts';
import { issueKey, revokeIssuedKey, rotateIssuedKey } from '../../access/issued-keys.ts';
import { runAudited } from '../../access/operator-route.ts';
import { hasOperators } from '../../access/operators.ts';
import { PERMISSIONS, type Action } from '../../access/permissions.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Database } from '../../lib/db.ts';
import { newId } from '../../lib/ids.ts';
import { onboardMerchant, readMerchant, type Merchant } from '../../merchants/operations.ts';
import type { UnitOfWork, RunInTransaction } from '../../outbox/record.ts';
import { requireOperator } from './call-route.ts';

export type TerminalDeps = {
  db: Database;
  runInTransaction: RunInTransaction;
  clock: Clock;
  pepper: string;
  demoOperatorId: string;
};

/** The operator that was named (opr_…), or else that of the demo data. */
type By = { operator: string | undefined };
type Audited = { audit: AuditedChange | null };

/**
 * The changes of `meskot merchants` and `meskot keys`, made and audited as an operator with the permission. Without any
 * operator in the installation they are made without permission and audit.
 */
export function createTerminalCommands({ db, runInTransaction, clock, pepper, demoOperatorId }: TerminalDeps) {
  const keyDeps = { pepper, clock };

  async function perform<T>(
    { action, operator, reason }: By & { action: Action; reason?: string | undefined },
    asOperator: (context: AuditContext) => Promise<T & Audited>,
    withoutOperator: (tx: UnitOfWork) => Promise<T>,
  ): Promise<T> {
    if (operator === undefined && !(await hasOperators(db))) return runInTransaction(withoutOperator);
    return runInTransaction(async (tx) => {
      const roles = PERMISSIONS[action];
      const { id: operatorId } = await requireOperator(tx.trx, { operator }, { demoOperatorId, roles });
      const context = { tx, operatorId, requestId: newId('req'), at: clock() };
      return runAudited(context, { action, reason }, asOperator);
    });
  }

  return {
    addMerchant: (input: { name: string }, by: By): Promise<Merchant> =>
      perform<Merchant>(
        { ...by, action: 'merchant.create' },
        async ({ tx }) => {
          const merchant = await onboardMerchant(tx.trx, input);
          const { id } = merchant;
          const audit = { resourceType: 'merchant', resourceId: id, merchantId: id, after: input } as const;
          return { ...merchant, audit };
        },
        ({ trx }) => onboardMerchant(trx, input),
      ),
    generateKey: (input: NewKey, by: By): Promise<CreatedKey> =>
      perform<CreatedKey>(
        { ...by, action: 'key.create' },
        async (context) => {
          await readMerchant(context.tx.trx, input.merchantId);
          return issueKey(context, keyDeps, input);
        },
        ({ trx }) => createKey({ trx, ...keyDeps }, input),
      ),
    rotateKey: (input: Rotation, by: By): Promise<CreatedKey> =>
      perform<CreatedKey>(
        { ...by, action: 'key.rotate' },
        (context) => rotateIssuedKey(context, keyDeps, input),
        ({ trx }) => rotateKey({ trx, ...keyDeps }, input),
      ),
    revokeKey: async (
      { reason, ...input }: { merchantId: string; keyId: string; reason?: string | undefined },
      by: By,
    ): Promise<ApiKey> => {
      const { key } = await perform<{ key: ApiKey }>(
        { ...by, action: 'key.revoke', reason },
        (context) => revokeIssuedKey(context, input),
        ({ trx }) => revokeKey({ trx, clock }, input.keyId),
      );
      return key;
    },
  };
}
