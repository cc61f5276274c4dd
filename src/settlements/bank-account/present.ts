import { BANKS } from '../../lib/banks.ts';
import { isoOrNull } from '../../lib/dates.ts';
import { maskDigits } from '../../lib/mask.ts';
import type { BankAccountRow } from './model.ts';

/** The public bank account; its number shows the last four digits only. */
export function presentBankAccount(row: BankAccountRow) {
  return {
    bankAccountId: row.id,
    bankCode: row.bankCode,
    bankName: BANKS[row.bankCode],
    accountNumber: maskDigits(row.accountNumber),
    accountName: row.accountName,
    status: row.status,
    ...(row.rejectionReason === null ? {} : { rejectionReason: row.rejectionReason }),
    environment: row.environment,
    linkedAt: row.createdAt.toISOString(),
    usableFrom: row.usableFrom.toISOString(),
    ...(row.status === 'VERIFIED' && row.decidedAt ? { verifiedAt: row.decidedAt.toISOString() } : {}),
  };
}

/** A bank account as operators see it, with the unmasked number: whoever verifies it needs it. */
export function presentForOperators(row: BankAccountRow) {
  const { merchantId, accountNumber, decidedBy } = row;
  return { ...presentBankAccount(row), merchantId, accountNumber, decidedBy, decidedAt: isoOrNull(row.decidedAt) };
}
