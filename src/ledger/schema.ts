import { z } from 'zod';

import { dateParam, sequencePageQuery, statusParam } from '../lib/pagination.ts';
import { MERCHANT_ACCOUNTS, type MerchantAccount } from './balance.ts';
import { JOURNAL_KINDS } from './postings.ts';

const instant = z.string().meta({ format: 'date-time' });
const birr = (description: string) => z.number().meta({ description });

/** `GET /api/checkout/balance`. */
export const Balance = z
  .object({
    currency: z.literal('ETB'),
    environment: z.enum(['sandbox', 'live']),
    available: birr('Can be withdrawn or settled'),
    reserved: birr('Reserved for withdrawals and settlements that have not ended, with their fees'),
    total: birr('available + reserved'),
    feesToDate: birr('Fees charged so far, and the tax on them'),
    netSettled: birr("Credited to the merchant's bank account so far"),
    asOf: instant,
  })
  .meta({ id: 'Balance' });

export const MovementListQuery = z.strictObject({
  account: z
    .enum(Object.keys(MERCHANT_ACCOUNTS) as [MerchantAccount, ...MerchantAccount[]])
    .optional()
    .meta({
      description: 'Which of the two balances; available by default',
    }),
  type: statusParam(JOURNAL_KINDS).optional(),
  startDate: dateParam.optional(),
  endDate: dateParam.optional(),
  ...sequencePageQuery,
});

/** One entry of `GET /api/checkout/balance/history`. */
export const Movement = z
  .object({
    entryId: z.string(),
    journalId: z.string().meta({ description: 'The same for all entries of one posting' }),
    account: z.enum(Object.keys(MERCHANT_ACCOUNTS) as [MerchantAccount, ...MerchantAccount[]]),
    type: z.enum(JOURNAL_KINDS),
    amount: birr('Positive when the balance rose, negative when it fell'),
    balanceAfter: z.number(),
    resourceType: z.enum(['transaction', 'withdrawal', 'settlement', 'providerTransfer']),
    resourceId: z.string(),
    createdAt: instant.meta({
      format: 'date-time',
      description: 'When it was posted; never before the previous movement',
    }),
  })
  .meta({ id: 'BalanceMovement' });
