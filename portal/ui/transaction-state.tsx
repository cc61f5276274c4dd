import type { HeldReason, TransactionStatus } from '../../src/payments/states.ts';
import type { TimelineKind } from '../../src/payments/timeline.ts';
import type { PayoutFailure } from '../../src/providers/provider.ts';
import { Badge, type Tone } from './badge.tsx';
import { channelName } from './channel-text.ts';
import { catalogue } from './language.ts';
import { ENDS as REFUND_ENDS, refundFailure } from './refund-state.tsx';

/** A transaction's status in a word. */
export const STATES: Record<TransactionStatus, string> = catalogue({
  SUCCESS: ['Success', 'ተሳክቷል'],
  PENDING: ['Pending', 'በመጠባበቅ ላይ'],
  FAILED: ['Failed', 'አልተሳካም'],
  CANCELLED: ['Cancelled', 'ተሰርዟል'],
  EXPIRED: ['Expired', 'ጊዜው አልፏል'],
});

const FAILURES: Record<PayoutFailure['code'], string> = catalogue({
  DECLINED: ['The provider declined the payment.', 'አቅራቢው ክፍያውን አልተቀበለም።'],
  INSUFFICIENT_FUNDS: ['The account has too little money.', 'በሂሳቡ ያለው ገንዘብ አይበቃም።'],
  CANCELLED_BY_CUSTOMER: ['The customer cancelled the payment.', 'ደንበኛው ክፍያውን ሰርዟል።'],
  TIMED_OUT: ['The payment was not confirmed in time.', 'ክፍያው በጊዜው አልተረጋገጠም።'],
  INVALID_PAYER: ['The provider does not know this phone number.', 'አቅራቢው ይህን ስልክ ቁጥር አያውቀውም።'],
  REJECTED: ['The provider rejected the request.', 'አቅራቢው ጥያቄውን አልተቀበለም።'],
  INVALID_PAYEE: ['The provider does not know this phone or account.', 'አቅራቢው ይህን ስልክ ወይም ሂሳብ አያውቀውም።'],
});

/** Why a payment or payout failed, in a sentence; undefined: the code is unknown. */
export const providerFailure = (code: string): string | undefined =>
  code in FAILURES ? FAILURES[code as PayoutFailure['code']] : undefined;

/** Why received money is held. */
export const HELD_REASON_TEXTS: Record<HeldReason, string> = catalogue({
  WRONG_AMOUNT: ['another amount than requested', 'ከተጠየቀው የተለየ መጠን'],
  WRONG_CURRENCY: ['another currency than requested', 'ከተጠየቀው የተለየ የገንዘብ ዓይነት'],
  REFERENCE_USED: ['its reference has paid another transaction', 'ማጣቀሻው ሌላ ግብይት ከፍሏል'],
});

/** What a provider has answered, and what operators have found out with it (COMPLETED, FAILED). */
export const OUTCOMES = catalogue({
  accepted: ['accepted, not decided yet', 'ተቀብሎታል፣ ገና አልወሰነም'],
  pending: ['not decided yet', 'ገና አልተወሰነም'],
  succeeded: ['paid', 'ተከፍሏል'],
  reversed: ['paid and reversed', 'ተከፍሎ ተመልሷል'],
  declined: ['declined', 'አልተቀበለውም'],
  failed: ['failed', 'አልተሳካም'],
  'not-found': ['does not know the order', 'ትዕዛዙን አያውቀውም'],
  unknown: ['no usable answer', 'ግልጽ ምላሽ የለም'],
  COMPLETED: ['made', 'ተፈጽሟል'],
  FAILED: ['not made', 'አልተፈጸመም'],
});

const FLAGS: Readonly<Record<string, string>> = catalogue({
  late: ['after the session had ended', 'የክፍያ ገጹ ካበቃ በኋላ'],
  reconcile: ['the outcome is not known yet', 'ውጤቱ ገና አልታወቀም'],
  failed: ['the payment has failed', 'ክፍያው አልተሳካም'],
  awaitsConfirmation: ['waits for a second person', 'ሁለተኛ ሰው ይጠብቃል'],
});

/** Facts of an entry that are of no use to a merchant. */
const LEFT_OUT: ReadonlySet<string> = new Set(['attemptId', 'refundId', 'next']);

type Entry = { kind: string; detail: Readonly<Record<string, unknown>> };

/** A fact of an entry of the timeline in words; undefined: it has none to show. */
export function factText({ kind, detail }: Entry, name: string): string | undefined {
  const value = detail[name];
  if (LEFT_OUT.has(name) || value === false || value === undefined || value === '') return undefined;
  if (value === true) return FLAGS[name];
  if (typeof value !== 'string') return typeof value === 'number' ? `${value}` : undefined;
  const isRefund = kind.startsWith('refund.');
  if (isRefund && name === 'code') return refundFailure({ code: value, providerCode: detail['providerCode'] }) ?? value;
  const own = isRefund ? REFUND_ENDS : FAILURES;
  const words: Readonly<Record<string, string>> = { ...HELD_REASON_TEXTS, ...OUTCOMES, ...own };
  return words[value] ?? channelName(value);
}

/** The entries of the timeline. */
export const KINDS: Record<TimelineKind, string> = catalogue({
  'session.created': ['Session created', 'የክፍያ ገጽ ተፈጠረ'],
  'session.expired': ['Session expired', 'የክፍያ ገጹ ጊዜ አለፈ'],
  'session.cancelled': ['Cancelled by the customer', 'ደንበኛው ሰርዞታል'],
  'attempt.started': ['Customer chose a channel', 'ደንበኛው የክፍያ መንገድ መረጠ'],
  'attempt.declined': ['Declined by the provider', 'አቅራቢው አልተቀበለውም'],
  'attempt.withdrawn': ['Customer took the attempt back', 'ደንበኛው ሙከራውን ተወው'],
  'provider.responded': ["Provider's answer", 'የአቅራቢው ምላሽ'],
  'payment.succeeded': ['Paid', 'ተከፈለ'],
  'payment.held': ['Money held: amount, currency or reference differ', 'ገንዘቡ ተይዟል፦ መጠን፣ የገንዘብ ዓይነት ወይም ማጣቀሻ ይለያል'],
  'payment.duplicate': ['Paid a second time', 'ለሁለተኛ ጊዜ ተከፈለ'],
  'payment.accepted': ['Held money released', 'የተያዘው ገንዘብ ተለቀቀ'],
  'payment.returned': ['Money returned to the customer', 'ገንዘቡ ለደንበኛው ተመለሰ'],
  'reconciliation.confirmed_unpaid': ["Not in the provider's statements: not paid", 'በአቅራቢው መግለጫ የለም፦ አልተከፈለም'],
  'status_report.success': ['Success was reported; the provider was asked', 'ስኬት ተነግሯል፤ አቅራቢው ተጠይቋል'],
  'status_report.error': ['A failure was reported; the provider was asked', 'አለመሳካት ተነግሯል፤ አቅራቢው ተጠይቋል'],
  'status_report.cancel': ['A cancellation was requested', 'መሰረዝ ተጠይቋል'],
  'refund.created': ['Refund requested', 'ተመላሽ ክፍያ ተጠየቀ'],
  'refund.confirmed': ['Refund confirmed by a second person', 'ተመላሽ ክፍያው በሁለተኛ ሰው ተረጋገጠ'],
  'refund.submitted': ['Refund sent to the provider', 'ተመላሽ ክፍያው ወደ አቅራቢው ተላከ'],
  'refund.responded': ["Provider's answer about the refund", 'የአቅራቢው ምላሽ ስለ ተመላሽ ክፍያው'],
  'refund.succeeded': ['Refunded', 'ገንዘቡ ለከፋዩ ተመለሰ'],
  'refund.failed': ['Not refunded', 'ገንዘቡ አልተመለሰም'],
  'refund.resolved': ['Outcome of the refund resolved by operators', 'የተመላሽ ክፍያው ውጤት በኦፕሬተሮች ተወሰነ'],
});

export const STATUS_TONES: Record<TransactionStatus, Tone> = {
  SUCCESS: 'good',
  PENDING: 'info',
  FAILED: 'bad',
  CANCELLED: 'quiet',
  EXPIRED: 'warn',
};

/** The status of a transaction in a word. */
export function StatusBadge({ status }: { status: TransactionStatus }) {
  return <Badge tone={STATUS_TONES[status]}>{STATES[status]}</Badge>;
}
