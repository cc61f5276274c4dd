import { catalogue } from '../../ui/language.ts';

/** The texts of settlements. */
export const text = catalogue({
  none: ['There was no settlement in the last 30 days.', 'ባለፉት 30 ቀናት ዝውውር አልነበረም።'],
  search: ['Id, request id or reference of the bank', 'መለያ፣ የጥያቄ መለያ ወይም የባንክ ማጣቀሻ'],
  account: ['Account', 'ሂሳብ'],
  bank: ['Bank', 'ባንክ'],
  settledBefore: ['Settled to it before', 'ከዚህ በፊት ወደ እሱ የተላከ'],
  never: ['never', 'ተልኮለት አያውቅም'],
  totalDebit: ['Debited', 'ከሂሳቡ የወጣ'],
  expectedBy: ['Expected by', 'እስከዚህ የሚጠበቅ'],
  approvedBy: ['Approved by', 'ያጸደቀው'],
  sentBy: ['Sent by', 'የላከው'],
  sentAt: ['Sent at', 'የተላከበት ጊዜ'],
  creditedOn: ['Credited on', 'የገባበት ቀን'],
  bankReference: ['Reference of the bank', 'የባንክ ማጣቀሻ'],
  requestId: ['Request id', 'የጥያቄ መለያ'],
  settlementId: ['Settlement id', 'የዝውውር መለያ'],
  overdue: ['The last expected day has passed without a result of the bank.', 'የመጨረሻው የሚጠበቅ ቀን ያለ ባንኩ ውጤት አልፏል።'],
  creditedLate: [
    'The bank reports a credit after the failure. The money was released to the merchant.',
    'ባንኩ ካልተሳካ በኋላ መግባቱን አስታውቋል። ገንዘቡ ለነጋዴው ተለቋል።',
  ],
  youApproved: ['You approved it: in live another operator sends it.', 'እርስዎ አጽድቀውታል፦ በእውነተኛው ሌላ ኦፕሬተር ይልከዋል።'],
});
