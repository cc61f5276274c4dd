import { DAY_MS } from '../lib/dates.ts';
import type { Santim } from '../lib/money.ts';
import { sandboxDecision } from '../lib/sandbox-review.ts';
import type { Environment } from '../lib/scope.ts';

/** Why somebody looks at a withdrawal before it is sent. */
export const REVIEW_REASONS = [
  'FIRST_TO_BENEFICIARY',
  'NEW_BENEFICIARY',
  'BENEFICIARY_RENAMED',
  'LARGE_AMOUNT',
  'MANY_IN_AN_HOUR',
  'SANDBOX_TEST',
] as const;
export type ReviewReason = (typeof REVIEW_REASONS)[number];

/** When people look; data, of a merchant or of the platform. */
export type ReviewPolicy = { largeAmountSantim: Santim; twoPersonSantim: Santim; perHourMax: number };

export type ReviewFacts = {
  environment: Environment;
  amountSantim: Santim;
  policy: ReviewPolicy;
  /** How many the merchant asked for in the last hour, this one left out. */
  inLastHour: number;
  paidThereBefore: boolean;
  /** When the merchant was first paid for there under the name it is asked for now, if ever. */
  firstPaidThereAsAt: Date | null;
  at: Date;
};

/** How long a destination, or another name for one, stays new after it was first paid. */
const NEW_FOR_MS = 2 * DAY_MS;

/** Why this withdrawal is looked at, and by how many operators; nobody where there is no reason. */
export function assessReview(facts: ReviewFacts): { reasons: ReviewReason[]; approvalsNeeded: 0 | 1 | 2 } {
  const { policy, amountSantim } = facts;
  const { paidThereBefore, firstPaidThereAsAt: knownSince } = facts;
  const isNew = knownSince !== null && facts.at.getTime() - knownSince.getTime() < NEW_FOR_MS;
  const found: [ReviewReason, boolean][] = [
    ['FIRST_TO_BENEFICIARY', !paidThereBefore],
    ['BENEFICIARY_RENAMED', paidThereBefore && knownSince === null],
    ['NEW_BENEFICIARY', isNew],
    ['LARGE_AMOUNT', amountSantim >= policy.largeAmountSantim],
    ['MANY_IN_AN_HOUR', facts.inLastHour >= policy.perHourMax],
    ['SANDBOX_TEST', facts.environment === 'sandbox' && sandboxDecision(amountSantim) !== 'approve'],
  ];
  const reasons = found.flatMap(([reason, applies]) => (applies ? [reason] : []));
  if (reasons.length === 0) return { reasons, approvalsNeeded: 0 };
  return { reasons, approvalsNeeded: amountSantim >= policy.twoPersonSantim ? 2 : 1 };
}
