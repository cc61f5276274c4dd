import { feeOf, readFeeRule, type FeeRule, type FeeRuleJson } from '../ledger/fees.ts';
import { post } from '../ledger/post.ts';
import { reservePosting, totalDebit } from '../ledger/postings.ts';
import type { Clock } from '../lib/clock.ts';
import { rows } from '../lib/db.ts';
import { AppError } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import { formatBirr, type Santim } from '../lib/money.ts';
import { scopeOf, type MerchantScope } from '../lib/scope.ts';
import { OUTBOX_INSERT, type UnitOfWork, type OutboxRow } from '../outbox/record.ts';
import { readUsableAccount } from './bank-account/queries.ts';
import { readSettlementDates } from './calendar/queries.ts';
import { recordSettlementEvent } from './events.ts';
import { findSettlement, toPayout, SETTLEMENT_COLUMNS, type NewSettlementRow, type SettlementRow } from './queries.ts';
import { settlementWorkflow } from './workflow-input.ts';

export type NewSettlement = {
  requestId: string;
  /** `all`: the available balance, less fee and tax. */
  amount: Santim | 'all';
  /** key_… or opr_…: the requester cannot approve. */
  requestedBy: string;
};

/** The result of the SQL function `settlement_preflight`; santim as plain numbers. */
type Context = {
  existingId: string | null;
  limits: { minSantim: number; maxSantim: number };
  feeRule: FeeRuleJson;
  /** Read, and locked until the transaction ends, only for `all`. */
  availableSantim: number | null;
};

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
  const now = clock();
  const context = await readContext(tx, scope, { ...wanted, now });
  if (context.existingId !== null) {
    return { row: ensureSame(await findSettlement(tx.trx, scope, context.existingId), wanted), isNew: false };
  }
  const [account, dates] = await Promise.all([readUsableAccount(tx.trx, scope, now), readSettlementDates(tx.trx, now)]);
  const rule = readFeeRule(context.feeRule);
  const amountSantim = decideAmount(wanted, context, rule);
  const row = await insertSettlement(tx, {
    ...scopeOf(scope),
    ...dates,
    id: newId('stl', now.getTime()),
    requestId: wanted.requestId,
    isFullBalance: wanted.amount === 'all',
    amountSantim,
    ...feeOf(rule, amountSantim),
    bankAccountId: account.id,
    bankCode: account.bankCode,
    accountNumber: account.accountNumber,
    accountName: account.accountName,
    requestedBy: wanted.requestedBy,
    requestedAt: now,
  });
  await recordSettlementEvent(tx, { row, event: 'settlement.requested', at: now });
  await post(tx.trx, reservePosting(toPayout(row)), now);
  return { row, isNew: true };
}

async function readContext(
  tx: UnitOfWork,
  scope: MerchantScope,
  wanted: NewSettlement & { now: Date },
): Promise<Context> {
  const { requestId, amount, now } = wanted;
  const [found] = await rows<{ context: Context }>(
    tx.trx,
    'SELECT settlement_preflight(:merchantId, :environment, :requestId, :all, :now) AS context',
    { ...scopeOf(scope), requestId, all: amount === 'all', now },
  );
  if (!found) throw new Error('settlement_preflight returned no row');
  return found.context;
}

/** The existing settlement of this requestId. Throws DUPLICATE_REFERENCE when its amount is another. */
function ensureSame(row: SettlementRow, wanted: NewSettlement): SettlementRow {
  const isSame = row.isFullBalance ? wanted.amount === 'all' : row.amountSantim === wanted.amount;
  if (isSame) return row;
  const issue = `"${wanted.requestId}" was used before for another settlement, ${row.id}; use a new one`;
  throw new AppError('DUPLICATE_REFERENCE', `requestId ${issue}`, {
    details: [{ field: 'requestId', issue }],
    existing: { settlementId: row.id },
  });
}

/** Throws AMOUNT_BELOW_MINIMUM, AMOUNT_ABOVE_MAXIMUM, and INSUFFICIENT_BALANCE when `all` is nothing. */
function decideAmount(wanted: NewSettlement, { limits, availableSantim }: Context, rule: FeeRule): Santim {
  const available = BigInt(availableSantim ?? 0);
  const isAll = wanted.amount === 'all';
  const amount = wanted.amount === 'all' ? wholeBalance(rule, available) : wanted.amount;
  if (amount === 0n) {
    const issue = `${formatBirr(available)} ETB are available, which leaves nothing to settle`;
    throw new AppError('INSUFFICIENT_BALANCE', `The balance is not sufficient: ${issue}.`, {
      details: [{ field: 'all', issue }],
    });
  }
  const field = isAll ? 'all' : 'amount';
  const got = isAll ? `all that is available is ${formatBirr(amount)}` : `got ${formatBirr(amount)}`;
  if (amount < BigInt(limits.minSantim)) {
    const issue = `must be at least ${formatBirr(BigInt(limits.minSantim))} ETB in a settlement, ${got}`;
    throw new AppError('AMOUNT_BELOW_MINIMUM', `amount ${issue}`, { details: [{ field, issue }] });
  }
  if (amount > BigInt(limits.maxSantim)) {
    const issue = `must be at most ${formatBirr(BigInt(limits.maxSantim))} ETB in a settlement, ${got}`;
    throw new AppError('AMOUNT_ABOVE_MAXIMUM', `amount ${issue}`, { details: [{ field, issue }] });
  }
  return amount;
}

async function insertSettlement(tx: UnitOfWork, row: NewSettlementRow): Promise<SettlementRow> {
  const start: OutboxRow = {
    id: newId('obx'),
    kind: 'start',
    ...settlementWorkflow({ ...row, settlementId: row.id }),
  };
  const [inserted] = await rows<SettlementRow>(
    tx.trx,
    `WITH added AS (
       INSERT INTO settlement (id, merchant_id, environment, request_id, is_full_balance, amount_santim, fee_santim,
         fee_tax_santim, currency, bank_account_id, bank_code, account_number, account_name, status, effective_date,
         expected_from, expected_until, skipped_days, requested_by, requested_at, created_at)
       VALUES (:id, :merchantId, :environment, :requestId, :isFullBalance, :amountSantim, :feeSantim,
         :feeTaxSantim, 'ETB', :bankAccountId, :bankCode, :accountNumber, :accountName, 'REQUESTED', :effectiveDate,
         :expectedFrom, :expectedUntil, CAST(:skippedDays AS jsonb), :requestedBy, :requestedAt, :requestedAt)
       RETURNING ${SETTLEMENT_COLUMNS}
     ), timeline_row AS (
       INSERT INTO settlement_timeline (settlement_id, occurred_at, kind, actor)
       SELECT id, requested_at, 'settlement.requested', requested_by FROM added
     ), outbox_row AS (${OUTBOX_INSERT})
     SELECT * FROM added`,
    { ...row, skippedDays: JSON.stringify(row.skippedDays), messages: JSON.stringify([start]) },
  );
  tx.enqueued([start]);
  if (!inserted) throw new Error('the settlement was not inserted');
  return inserted;
}

/** The largest amount that, with its fee and tax, the available balance covers; may be 0. Rounding may leave a santim. */
function wholeBalance(rule: FeeRule, availableSantim: Santim): Santim {
  const fits = (amountSantim: Santim): boolean =>
    totalDebit({ amountSantim, ...feeOf(rule, amountSantim) }) <= availableSantim;
  let least = 0n;
  let most = availableSantim;
  // A larger amount never has a smaller fee.
  while (least < most) {
    const middle = (least + most + 1n) / 2n;
    if (fits(middle)) least = middle;
    else most = middle - 1n;
  }
  return least;
}
