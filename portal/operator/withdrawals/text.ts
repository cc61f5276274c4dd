import type { ReviewReason } from '../../../src/withdrawals/states.ts';
import { formatCount } from '../../ui/format.ts';
import { catalogue } from '../../ui/language.ts';

/** The texts of withdrawals. */
export const text = catalogue(
  {
    title: 'Withdrawals',
    none: 'No withdrawal matches these filters.',
    search: 'Id, requestId or reference',
    to: 'To',
    paidBefore: 'Paid to it before',
    never: 'never',
    otherNames: 'Names used before',
    totalDebit: 'Debited',
    paidAmount: 'Paid',
    confirmedBy: 'Confirmed by',
    submittedAt: 'Sent at',
    lastOutcome: 'Last answer',
    requestId: 'Request id',
    withdrawalId: 'Withdrawal id',
    missing: (count: number) => `Approvals still needed: ${formatCount(count)}`,
  },
  {
    title: 'ወጪዎች',
    none: 'ከእነዚህ ማጣሪያዎች ጋር የሚስማማ ወጪ የለም።',
    search: 'መለያ፣ የጥያቄ መለያ ወይም ማጣቀሻ',
    to: 'የሚከፈለው',
    paidBefore: 'ከዚህ በፊት የተከፈለው',
    never: 'ተከፍሎት አያውቅም',
    otherNames: 'ከዚህ በፊት የተጠቀሙባቸው ስሞች',
    totalDebit: 'ከሂሳቡ የወጣ',
    paidAmount: 'የተከፈለ',
    confirmedBy: 'ያረጋገጠው',
    submittedAt: 'የተላከበት ጊዜ',
    lastOutcome: 'የመጨረሻ ምላሽ',
    requestId: 'የጥያቄ መለያ',
    withdrawalId: 'የወጪ መለያ',
    missing: (count: number) => `ገና የሚያስፈልጉ ማጽደቆች፦ ${formatCount(count)}`,
  },
);

/** Why a withdrawal is reviewed. */
export const REASONS: Record<ReviewReason, string> = catalogue(
  {
    FIRST_TO_BENEFICIARY: 'First to this beneficiary',
    NEW_BENEFICIARY: 'New beneficiary',
    BENEFICIARY_RENAMED: 'Beneficiary with another name',
    LARGE_AMOUNT: 'Large amount',
    MANY_IN_AN_HOUR: 'Many within an hour',
    SANDBOX_TEST: 'Test of the review',
  },
  {
    FIRST_TO_BENEFICIARY: 'ለዚህ ተቀባይ የመጀመሪያ',
    NEW_BENEFICIARY: 'አዲስ ተቀባይ',
    BENEFICIARY_RENAMED: 'ስሙ የተለወጠ ተቀባይ',
    LARGE_AMOUNT: 'ትልቅ መጠን',
    MANY_IN_AN_HOUR: 'በአንድ ሰዓት ውስጥ ብዙ',
    SANDBOX_TEST: 'የምርመራ ሙከራ',
  },
);
