import { totalDebit } from '../../ledger/postings.ts';
import { withoutNulls } from '../../lib/fields.ts';
import { maskDigits } from '../../lib/mask.ts';
import { toBirr } from '../../lib/money.ts';
import { messageCodeOf } from '../../lib/sandbox-reasons.ts';
import { presentStage } from '../schema.ts';
import type { WithdrawalRow } from './queries.ts';
import { Withdrawal } from './schema.ts';

/** The public withdrawal, without the fields that have no value. Columns that the schema does not name are dropped. */
export function presentWithdrawal(row: WithdrawalRow) {
  const { phone, bankCode, accountNumber, accountName, limitSnapshot: limits, stage, reviewReasons } = row;
  return Withdrawal.parse(
    withoutNulls({
      ...row,
      withdrawalRequestId: row.id,
      requestId: row.reference,
      amount: toBirr(row.amountSantim),
      fee: toBirr(row.feeSantim),
      feeTax: toBirr(row.feeTaxSantim),
      totalDebit: toBirr(totalDebit(row)),
      paidAmount: row.paidSantim && toBirr(row.paidSantim),
      destination: withoutNulls({
        phone: phone && maskDigits(phone),
        bankCode,
        accountNumber: accountNumber && maskDigits(accountNumber),
        accountName,
      }),
      failure: row.failure && { ...row.failure, ...messageCodeOf(row.failure.message) },
      ...presentStage(stage),
      reviewReasons: reviewReasons.length === 0 ? null : reviewReasons,
      limitsApplied: {
        min: birr(limits.minSantim),
        max: birr(limits.maxSantim),
        daily: limits.dailySantim && birr(limits.dailySantim),
        usedTodayBefore: birr(limits.usedTodaySantim),
      },
    }),
  );
}

const birr = (santim: number): number => toBirr(BigInt(santim));

/** `data` of every withdrawal event: a full snapshot, so that the order of deliveries does not matter. */
export function withdrawalSnapshot(row: WithdrawalRow) {
  const { environment, ...fields } = presentWithdrawal(row);
  return { object: 'withdrawal', environment, merchantId: row.merchantId, version: row.version, ...fields };
}

export function presentForOperators(row: WithdrawalRow) {
  const { withdrawalRequestId: withdrawalId, ...fields } = presentWithdrawal(row);
  const { merchantId, stage, reviewReasons, approvalsNeeded } = row;
  return { withdrawalId, merchantId, ...fields, stage, reviewReasons, approvalsNeeded };
}
