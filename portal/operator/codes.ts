import type { FeeDirection } from '../../src/ledger/fees.ts';
import type { AttemptStatus } from '../../src/payments/states.ts';
import type { StatementRow } from '../../src/providers/provider.ts';
import { catalogue } from '../ui/language.ts';
import { OUTCOMES } from '../ui/transaction-state.tsx';
import type { BankFileReport, Credentials, Holiday, MerchantKey, Receipt, TransactionDetail } from './routes.ts';

type Hold = NonNullable<TransactionDetail['payments'][number]['decision']>;

/** What a fee or a limit is of. */
export const DIRECTIONS: Record<FeeDirection, string> = catalogue({
  PAY_IN: ['Payments', 'ክፍያዎች'],
  PAY_OUT: ['Withdrawals', 'ወጪዎች'],
  SETTLEMENT: ['Settlements', 'ወደ ባንክ ዝውውሮች'],
});

export const KEY_KINDS: Record<MerchantKey['kind'], string> = catalogue({
  secret: ['all permissions', 'ሁሉም ፈቃዶች'],
  restricted: ['some permissions', 'የተወሰኑ ፈቃዶች'],
});

/** Whether banks are closed on a holiday. */
export const HOLIDAY_KINDS: Record<Holiday['kind'], string> = catalogue({
  closed: ['banks are closed', 'ባንኮች ዝግ ናቸው'],
  memorial: ['banks are open', 'ባንኮች ክፍት ናቸው'],
});

/** The state of an attempt to pay. */
export const ATTEMPT_STATES: Record<AttemptStatus, string> = catalogue({
  CREATED: ['About to be sent', 'ሊላክ ነው'],
  PENDING: ['Waits for the customer', 'ደንበኛውን ይጠብቃል'],
  SUCCEEDED: ['Paid', 'ተከፍሏል'],
  DECLINED: ['Declined', 'ተቀባይነት አላገኘም'],
  HELD: ['Money held', 'ገንዘቡ ተይዟል'],
  DUPLICATE: ['Paid a second time', 'ለሁለተኛ ጊዜ ተከፍሏል'],
  ABANDONED: ['Ended without an outcome', 'ያለ ውጤት አብቅቷል'],
});

/** What was decided about held money. */
export const HOLD_DECISIONS: Record<Hold, string> = catalogue({
  ACCEPTED: ['Released to the merchant', 'ለነጋዴው ተለቋል'],
  RETURNED: ['Returned to the customer', 'ለደንበኛው ተመልሷል'],
});

export const RECEIPT_KINDS: Record<Receipt['kind'], string> = catalogue({
  REMITTANCE: ["A provider's transfer", 'የአቅራቢ ዝውውር'],
  UNALLOCATED: ['Of an unknown payer', 'የማይታወቅ ከፋይ'],
  RECOVERY: ['Recovered overpayment', 'የተመለሰ ትርፍ ክፍያ'],
});

export const RECEIPT_OUTCOMES: Record<NonNullable<Receipt['outcome']>, string> = catalogue({
  ALLOCATED: ["A provider's transfer", 'የአቅራቢ ዝውውር'],
  RETURNED: ['Returned to the payer', 'ለከፋዩ ተመልሷል'],
});

/** What a line of a provider's statement is. */
const ORDER_TYPES: Record<StatementRow['type'], string> = catalogue({
  payment: ['Payment', 'ክፍያ'],
  payout: ['Payout', 'ወጪ'],
  payoutReversal: ['Reversal of a payout', 'የተመለሰ ወጪ'],
  refund: ['Refund', 'ተመላሽ ክፍያ'],
});

export const CHECKS: Record<NonNullable<Credentials['checkOutcome']>, string> = catalogue({
  OK: ['accepted by the provider', 'አቅራቢው ተቀብሏቸዋል'],
  REFUSED: ['refused by the provider', 'አቅራቢው አልተቀበላቸውም'],
  UNREACHABLE: ['the provider did not answer', 'አቅራቢው ምላሽ አልሰጠም'],
});

/** What a line of a bank's file reports. */
export const BANK_RESULTS: Record<BankFileReport['applied'][number]['result'], string> = catalogue({
  credited: ['credited', 'ገብቷል'],
  failed: ['failed', 'አልተሳካም'],
  returned: ['returned', 'ተመልሷል'],
});

const wordOf =
  (words: Readonly<Record<string, string>>) =>
  (code: string): string =>
    words[code] ?? code;

/** The latest answer of a provider. */
export const outcomeText = wordOf(OUTCOMES);
export const orderTypeText = wordOf(ORDER_TYPES);
