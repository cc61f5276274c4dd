import { z } from 'zod';

import { instant } from '../lib/fields.ts';
import { dateParam, sequencePageQuery, statusParam } from '../lib/pagination.ts';
import { ACCOUNTS } from './balance.ts';
import { JOURNAL_KINDS } from './postings.ts';

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
  account: z.enum(ACCOUNTS).optional().meta({
    description: 'Which of the two balances; available by default',
  }),
  type: statusParam(JOURNAL_KINDS).optional(),
  startDate: dateParam.optional(),
  endDate: dateParam.optional(),
  ...sequencePageQuery,
});
