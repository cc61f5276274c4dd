import { z } from 'zod';

import { ACCOUNT_NUMBER, BANK_CODES, BANKS } from '../../lib/banks.ts';
import { instant, patternText, plainText } from '../../lib/fields.ts';
import { maskDigits } from '../../lib/mask.ts';
import type { BankAccountRow } from './queries.ts';

const ACCOUNT_NAME_CHARACTERS_MAX = 100;

export const NewBankAccount = z.strictObject({
  bankCode: z.enum(BANK_CODES),
  accountNumber: patternText(20, ACCOUNT_NUMBER, 'must be 8 to 20 digits').meta({ example: '1000123456789' }),
  accountName: plainText(ACCOUNT_NAME_CHARACTERS_MAX).min(1).meta({ example: 'Abyssinia Coffee PLC' }),
});

/** The bank account that settlements go to. */
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
    usableFrom: instant.meta({
      description: 'From when it can be used, once verified; in live a replacement is held for 48 hours',
    }),
    verifiedAt: instant.optional(),
  })
  .meta({ id: 'BankAccount' });

/** The bank account as the API returns it; its number has the last four digits only. */
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
