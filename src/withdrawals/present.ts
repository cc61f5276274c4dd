import { totalDebit } from '../ledger/postings.ts';
import { withoutNulls } from '../lib/fields.ts';
import { maskDigits } from '../lib/mask.ts';
import { toBirr } from '../lib/money.ts';
import type { WithdrawalRow } from './queries.ts';

/** Why a withdrawal is still PENDING, for the merchant. */
const PENDING_REASONS = {
  CREATED: 'It is about to be sent to the provider.',
  UNDER_REVIEW: 'It is being reviewed before it is sent.',
  SUBMITTED: 'The provider has it and has not paid it yet.',
  UNKNOWN: 'The provider does not know the outcome yet; it is queried again.',
} as const;

/** The public withdrawal, without the fields that have no value. */
export function presentWithdrawal(row: WithdrawalRow) {
  const { minSantim, maxSantim, dailySantim, usedTodaySantim } = row.limitSnapshot;
  return withoutNulls({
    withdrawalRequestId: row.id,
    requestId: row.requestId,
    amount: toBirr(row.amountSantim),
    fee: toBirr(row.feeSantim),
    feeTax: toBirr(row.feeTaxSantim),
    totalDebit: toBirr(totalDebit(row)),
    paidAmount: row.paidSantim && toBirr(row.paidSantim),
    currency: row.currency,
    channel: row.channel,
    destination: withoutNulls({
      phone: row.phone && maskDigits(row.phone),
      bankCode: row.bankCode,
      accountNumber: row.accountNumber && maskDigits(row.accountNumber),
      accountName: row.accountName,
    }),
    reason: row.reason,
    status: row.status,
    ...(row.stage === 'COMPLETED' ? {} : { stage: row.stage, pendingReason: PENDING_REASONS[row.stage] }),
    reviewReasons: row.reviewReasons.length === 0 ? null : row.reviewReasons,
    providerReference: row.providerReference,
    failure: row.failure,
    limitsApplied: {
      min: birr(minSantim),
      max: birr(maxSantim),
      daily: dailySantim && birr(dailySantim),
      usedTodayBefore: birr(usedTodaySantim),
    },
    environment: row.environment,
    requestedAt: row.requestedAt,
    completedAt: row.completedAt,
    reversedAt: row.reversedAt,
  });
}

const birr = (santim: number): number => toBirr(BigInt(santim));

/** `data` of every withdrawal event: a full snapshot, so that the order of deliveries does not matter. */
export function withdrawalSnapshot(row: WithdrawalRow) {
  const { environment, ...fields } = presentWithdrawal(row);
  return { object: 'withdrawal', environment, merchantId: row.merchantId, version: row.version, ...fields };
}

/** A withdrawal as operators see it. */
export function presentForOperators(row: WithdrawalRow) {
  const { withdrawalRequestId: withdrawalId, ...fields } = presentWithdrawal(row);
  const { merchantId, stage, reviewReasons, approvalsNeeded } = row;
  return { withdrawalId, merchantId, ...fields, stage, reviewReasons, approvalsNeeded };
}
