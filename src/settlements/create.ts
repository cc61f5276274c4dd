import type { z } from 'zod';

import { lockAvailable } from '../ledger/balance.ts';
import { feeOf, readEffectiveRule, type FeeRule } from '../ledger/fees.ts';
import { post } from '../ledger/post.ts';
import { reservePosting, totalDebit } from '../ledger/postings.ts';
import type { Clock } from '../lib/clock.ts';
import { first, insertRow, type Trx } from '../lib/db.ts';
import { type AppError, duplicate, invalid } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import { notEnough, tooBig, tooSmall } from '../lib/issues.ts';
import { lock } from '../lib/lock.ts';
import { formatBirr, type Santim } from '../lib/money.ts';
import { scopeOf, type MerchantScope } from '../lib/scope.ts';
import { recordTimeline } from '../lib/timeline.ts';
import type { UnitOfWork } from '../outbox/record.ts';
import { readUsableAccount } from './bank-account/account.ts';
import { readSettlementDates } from './calendar/operations.ts';
import { recordSettlementEvent } from './events.ts';
import { readSettlementLimit, type SettlementLimit } from './limit.ts';
import { toPayout, type SettlementRow } from './queries.ts';
import type * as schema from './schema.ts';
import { settlementWorkflow } from './workflow.ts';

/** `amount`: `all` is the available balance, less fee and tax. `requestedBy`: key_… or usr_…, which cannot approve it. */
export type NewSettlement = z.output<typeof schema.NewSettlement> & { requestedBy: string };

/**
 * Requests a settlement to the merchant's bank account: reserves its amount, fee and tax, computes its expected days,
 * and starts its workflow. Idempotent by requestId, without a time limit (`isNew: false`).
 * Throws DUPLICATE_REFERENCE, BANK_ACCOUNT_NOT_VERIFIED, AMOUNT_BELOW_MINIMUM, AMOUNT_ABOVE_MAXIMUM,
 * INSUFFICIENT_BALANCE.
 */
export async function createSettlement(
  { tx, clock }: { tx: UnitOfWork; clock: Clock },
  scope: MerchantScope,
  wanted: NewSettlement,
): Promise<{ row: SettlementRow; isNew: boolean }> {
  const { trx } = tx;
  const now = clock();
  const { requestId } = wanted;
  await lock(trx, 'settlement', `${scope.merchantId} ${scope.environment}`);
  const existing = await first<SettlementRow>(
    trx,
    `SELECT * FROM settlement
     WHERE merchant_id = :merchantId AND environment = :environment AND request_id = :requestId`,
    { ...scopeOf(scope), requestId },
  );
  if (existing) return { row: ensureSame(existing, wanted), isNew: false };
  const [account, dates, limit, rule] = await Promise.all([
    readUsableAccount(trx, scope, now),
    readSettlementDates(trx, now),
    readSettlementLimit(trx, scope.merchantId),
    readEffectiveRule(trx, { merchantId: scope.merchantId, channel: null, direction: 'SETTLEMENT', at: now }),
  ]);
  const isAll = wanted.amount === 'all';
  const amountSantim = wanted.amount === 'all' ? await wholeBalance(trx, scope, rule) : wanted.amount;
  const rejection = limitError(limit, amountSantim, isAll);
  if (rejection) throw rejection;
  const id = newId('stl', now.getTime());
  const { requestedBy } = wanted;
  const row = await insertRow<SettlementRow>(trx, 'settlement', {
    ...scopeOf(scope),
    ...dates,
    skippedDays: JSON.stringify(dates.skippedDays),
    id,
    requestId,
    isFullBalance: isAll,
    amountSantim,
    ...feeOf(rule, amountSantim),
    currency: 'ETB',
    bankAccountId: account.id,
    bankCode: account.bankCode,
    accountNumber: account.accountNumber,
    accountName: account.accountName,
    status: 'REQUESTED',
    requestedBy,
    requestedAt: now,
    createdAt: now,
  });
  await recordTimeline<schema.TimelineKind>(trx, id, { at: now, kind: 'settlement.requested', actor: requestedBy });
  await tx.enqueue([{ kind: 'start', ...settlementWorkflow({ ...row, settlementId: id }) }]);
  await recordSettlementEvent(tx, { row, event: 'settlement.requested', at: now });
  await post(trx, reservePosting(toPayout(row)), now);
  return { row, isNew: true };
}

/** The existing settlement of this requestId. Throws DUPLICATE_REFERENCE when its amount is another. */
function ensureSame(row: SettlementRow, wanted: NewSettlement): SettlementRow {
  const isSame = row.isFullBalance ? wanted.amount === 'all' : row.amountSantim === wanted.amount;
  if (isSame) return row;
  const issue = `"${wanted.requestId}" was used before for another settlement, ${row.id}; use a new one`;
  throw duplicate('requestId', issue, { settlementId: row.id });
}

/** AMOUNT_BELOW_MINIMUM or AMOUNT_ABOVE_MAXIMUM; null within the limit. */
export function limitError(
  { minSantim, maxSantim }: SettlementLimit,
  amountSantim: Santim,
  isAll: boolean,
): AppError | null {
  const isBelow = amountSantim < minSantim;
  if (!isBelow && amountSantim <= maxSantim) return null;
  const bound = isBelow ? `at least ${formatBirr(minSantim)}` : `at most ${formatBirr(maxSantim)}`;
  const got = isAll ? `all that is available is ${formatBirr(amountSantim)}` : `got ${formatBirr(amountSantim)}`;
  const issue = `must be ${bound} ETB in a settlement, ${got}`;
  const code = isBelow ? 'AMOUNT_BELOW_MINIMUM' : 'AMOUNT_ABOVE_MAXIMUM';
  const wrong = isBelow ? tooSmall(issue, minSantim) : tooBig(issue, maxSantim);
  return invalid(isAll ? 'all' : 'amount', wrong, { code, message: `amount ${issue}` });
}

/** All that is available. Locks the balance until the transaction ends. Throws INSUFFICIENT_BALANCE when that is nothing. */
async function wholeBalance(trx: Trx, scope: MerchantScope, rule: FeeRule): Promise<Santim> {
  const availableSantim = await lockAvailable(trx, scope);
  const amountSantim = largestAmount(rule, availableSantim);
  if (amountSantim === 0n) throw nothingToSettle(availableSantim);
  return amountSantim;
}

/** The largest amount that, with its fee and tax, the available balance covers; rounding may leave a santim. */
export function largestAmount(rule: FeeRule, availableSantim: Santim): Santim {
  let least = 0n;
  let most = availableSantim;
  // A larger amount never has a smaller fee.
  while (least < most) {
    const middle = (least + most + 1n) / 2n;
    const fits = totalDebit({ amountSantim: middle, ...feeOf(rule, middle) }) <= availableSantim;
    if (fits) least = middle;
    else most = middle - 1n;
  }
  return least;
}

/** INSUFFICIENT_BALANCE where the balance covers no amount at all. */
export function nothingToSettle(availableSantim: Santim): AppError {
  const issue = `${formatBirr(availableSantim)} ETB are available, which leaves nothing to settle`;
  return invalid('all', notEnough(issue, availableSantim), {
    code: 'INSUFFICIENT_BALANCE',
    message: `The balance is not sufficient: ${issue}.`,
  });
}
