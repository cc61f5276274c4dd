import type { ReviewReason } from '../../../src/payouts/withdrawals/states.ts';
import { formatCount } from '../../ui/format.ts';
import { catalogue } from '../../ui/language.ts';

/** The texts of withdrawals. */
export const text = catalogue({
  none: ['There was no withdrawal in the last 30 days.', 'ባለፉት 30 ቀናት ወጪ አልነበረም።'],
  search: ['Id, request id or reference', 'መለያ፣ የጥያቄ መለያ ወይም ማጣቀሻ'],
  to: ['To', 'የሚከፈለው'],
  paidBefore: ['Paid to it before', 'ከዚህ በፊት የተከፈለው'],
  never: ['never', 'ተከፍሎት አያውቅም'],
  otherNames: ['Names used before', 'ከዚህ በፊት የተጠቀሙባቸው ስሞች'],
  totalDebit: ['Debited', 'ከሂሳቡ የወጣ'],
  paidAmount: ['Paid', 'የተከፈለ'],
  confirmedBy: ['Confirmed by', 'ያረጋገጠው'],
  submittedAt: ['Sent at', 'የተላከበት ጊዜ'],
  lastOutcome: ['Last answer', 'የመጨረሻ ምላሽ'],
  requestId: ['Request id', 'የጥያቄ መለያ'],
  withdrawalId: ['Withdrawal id', 'የወጪ መለያ'],
  missing: (count: number) => [
    `Approvals still needed: ${formatCount(count)}`,
    `ገና የሚያስፈልጉ ማጽደቆች፦ ${formatCount(count)}`,
  ],
});

/** Why a withdrawal is reviewed. */
export const REASONS: Record<ReviewReason, string> = catalogue({
  FIRST_TO_BENEFICIARY: ['First to this beneficiary', 'ለዚህ ተቀባይ የመጀመሪያ'],
  NEW_BENEFICIARY: ['New beneficiary', 'አዲስ ተቀባይ'],
  BENEFICIARY_RENAMED: ['Beneficiary with another name', 'ስሙ የተለወጠ ተቀባይ'],
  LARGE_AMOUNT: ['Large amount', 'ትልቅ መጠን'],
  MANY_IN_AN_HOUR: ['Many within an hour', 'በአንድ ሰዓት ውስጥ ብዙ'],
  SANDBOX_TEST: ['Test of the review', 'የምርመራ ሙከራ'],
});
