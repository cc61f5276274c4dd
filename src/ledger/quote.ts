import { z } from 'zod';

import { presentProblem, type AppError } from '../lib/errors.ts';
import { FieldIssues } from '../lib/issues.ts';
import { toBirr, type Santim } from '../lib/money.ts';
import { feeOf, type FeeRule } from './fees.ts';
import { insufficientBalance } from './post.ts';
import { totalDebit } from './postings.ts';

export const Quote = z.object({
  amount: z.number(),
  fee: z.number(),
  feeTax: z.number(),
  totalDebit: z.number().describe('What the balance would be charged: amount + fee + feeTax'),
  currency: z.literal('ETB'),
  problems: z
    .array(z.object({ code: z.string(), message: z.string(), details: FieldIssues }))
    .describe('The errors that a request would get now; none: it would be accepted'),
});

/** A quote of an amount by a fee rule; `rejections` are the errors of other checks, null where one is passed. */
export function quotePayout(
  type: 'withdrawal' | 'settlement',
  { amountSantim, rule, availableSantim }: { amountSantim: Santim; rule: FeeRule; availableSantim: Santim },
  rejections: readonly (AppError | null)[],
): z.output<typeof Quote> {
  const fee = feeOf(rule, amountSantim);
  const wantedSantim = totalDebit({ amountSantim, ...fee });
  // Where nothing is left to pay out, `rejections` has its own error.
  const isUncovered = amountSantim > 0n && wantedSantim > availableSantim;
  const uncovered = isUncovered ? insufficientBalance(type, { wantedSantim, availableSantim }) : null;
  return {
    amount: toBirr(amountSantim),
    fee: toBirr(fee.feeSantim),
    feeTax: toBirr(fee.feeTaxSantim),
    totalDebit: toBirr(wantedSantim),
    currency: 'ETB',
    problems: [...rejections, uncovered].filter((error) => error !== null).map(presentProblem),
  };
}
