import { z } from 'zod';

import { ACCOUNT_NUMBER, BANK_CODES } from '../../lib/banks.ts';
import { instant, patternText, plainText } from '../../lib/fields.ts';

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
      description: 'In live a changed account is held: once verified, settlements work from here on',
    }),
    verifiedAt: instant.optional(),
  })
  .meta({ id: 'BankAccount' });
