import { z } from 'zod';

import { environment, id, links, reason } from '../../access/operator-schema.ts';
import { ACCOUNT_NUMBER, ACCOUNT_NUMBER_RULE, BANK_CODES, BANKS } from '../../lib/banks.ts';
import { instant, patternText, plainText } from '../../lib/fields.ts';
import { maskDigits } from '../../lib/mask.ts';
import { requestedByFields } from '../../merchants/operations.ts';
import type { BankAccountRow } from './account.ts';

const ACCOUNT_NAME_CHARACTERS_MAX = 100;

export const NewBankAccount = z.strictObject({
  bankCode: z.enum(BANK_CODES),
  accountNumber: patternText(20, ACCOUNT_NUMBER, ACCOUNT_NUMBER_RULE).meta({ example: '1000123456789' }),
  accountName: plainText(ACCOUNT_NAME_CHARACTERS_MAX).min(1).meta({ example: 'Abyssinia Coffee PLC' }),
});

export const BankAccount = z
  .object({
    bankAccountId: z.string(),
    bankCode: z.enum(BANK_CODES),
    bankName: z.string(),
    accountNumber: z.string().meta({ description: 'Its last four digits', example: '*********6789' }),
    accountName: z.string(),
    status: z.enum(['PENDING', 'VERIFIED', 'REJECTED']),
    rejectionReason: z.string().optional(),
    environment: z.enum(['sandbox', 'live']),
    linkedAt: instant,
    usableFrom: instant.describe('From when it can be used, once verified; in live a replacement is held for 48 hours'),
    verifiedAt: instant.optional(),
  })
  .meta({ id: 'BankAccount' });

const bankAccountId = id.describe('Rejected if the merchant has linked another account since');
export const AccountVerification = z.strictObject({ environment, bankAccountId, reason: reason.optional() });
export const AccountRejection = z.strictObject({ environment, bankAccountId, reason });

export const OperatorBankAccount = BankAccount.extend({
  merchantId: z.string(),
  accountNumber: z.string(),
  decidedBy: z.string().nullable().describe('opr_…, or "sandbox"'),
  decidedAt: instant.nullable(),
}).meta({ id: 'OpsBankAccount' });

export const OperatorBankAccountDetail = OperatorBankAccount.extend({ ...requestedByFields, links }).meta({
  id: 'OpsBankAccountDetail',
});

/** The bank account as the API returns it; its number has the last four digits only. */
export function presentBankAccount(row: BankAccountRow) {
  return {
    ...row,
    bankAccountId: row.id,
    bankName: BANKS[row.bankCode],
    accountNumber: maskDigits(row.accountNumber),
    rejectionReason: row.rejectionReason ?? undefined,
    linkedAt: row.createdAt,
    verifiedAt: (row.status === 'VERIFIED' && row.decidedAt) || undefined,
  };
}

/** A bank account as operators see it, with the unmasked number, which verification needs. */
export function presentForOperators(row: BankAccountRow) {
  return { ...presentBankAccount(row), accountNumber: row.accountNumber };
}
