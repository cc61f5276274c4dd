import { readBalance } from '../ledger/balance.ts';
import { readEffectiveRule } from '../ledger/fees.ts';
import { quotePayout } from '../ledger/quote.ts';
import type { Queryable } from '../lib/db.ts';
import { AppError } from '../lib/errors.ts';
import type { Santim } from '../lib/money.ts';
import type { MerchantScope } from '../lib/scope.ts';
import { readUsableAccount } from './bank-account/account.ts';
import { readSettlementDates } from './calendar/operations.ts';
import { largestAmount, limitError, nothingToSettle } from './create.ts';
import { presentLimit, readSettlementLimit } from './limit.ts';

/** The fee and the expected days of a settlement requested now, and the errors it would get. Writes nothing. */
export async function quoteSettlement(
  db: Queryable,
  scope: MerchantScope,
  { amount, at }: { amount: Santim | 'all'; at: Date },
) {
  const [accountError, dates, limit, rule, { availableSantim }] = await Promise.all([
    readUsableAccount(db, scope, at).then(() => null, asAppError),
    readSettlementDates(db, at),
    readSettlementLimit(db, scope.merchantId),
    readEffectiveRule(db, { merchantId: scope.merchantId, channel: null, direction: 'SETTLEMENT', at }),
    readBalance(db, scope),
  ]);
  const isAll = amount === 'all';
  const amountSantim = isAll ? largestAmount(rule, availableSantim) : amount;
  const amountError = amountSantim === 0n ? nothingToSettle(availableSantim) : limitError(limit, amountSantim, isAll);
  return {
    ...quotePayout('settlement', { amountSantim, rule, availableSantim }, [accountError, amountError]),
    effectiveDate: dates.effectiveDate,
    earliestExpected: dates.expectedFrom,
    expectedBy: dates.expectedUntil,
    dateReasons: dates.skippedDays,
    limits: presentLimit(limit),
  };
}

function asAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  throw error;
}
