import type { BankCode } from '../../lib/banks.ts';
import { rows, type Queryable } from '../../lib/db.ts';
import { lock } from '../../lib/lock.ts';
import { scopeOf, type MerchantScope } from '../../lib/scope.ts';
import type { UnitOfWork } from '../../outbox/record.ts';

export type BankAccountStatus = 'PENDING' | 'VERIFIED' | 'REJECTED';

/** A row of `bank_account`. Where it goes never changes: another account is another row. */
export type BankAccountRow = MerchantScope & {
  id: string;
  bankCode: BankCode;
  accountNumber: string;
  accountName: string;
  status: BankAccountStatus;
  rejectionReason: string | null;
  requestedBy: string;
  decidedBy: string | null;
  createdAt: Date;
  usableFrom: Date;
  decidedAt: Date | null;
  /** It was good once, even if it was rejected later. */
  verifiedAt: Date | null;
  replacedAt: Date | null;
};

/** The account that counts now; undefined where none was ever linked. */
export async function findBankAccount(db: Queryable, scope: MerchantScope): Promise<BankAccountRow | undefined> {
  const [row] = await rows<BankAccountRow>(
    db,
    `SELECT * FROM bank_account
     WHERE merchant_id = :merchantId AND environment = :environment AND replaced_at IS NULL`,
    scopeOf(scope),
  );
  return row;
}

/** The same, and nobody links or decides about another one until the change ends. */
export async function lockBankAccount({ trx }: UnitOfWork, scope: MerchantScope): Promise<BankAccountRow | undefined> {
  await lock(trx, 'bank_account', `${scope.merchantId} ${scope.environment}`);
  return findBankAccount(trx, scope);
}
