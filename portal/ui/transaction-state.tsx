import type { TransactionStatus } from '../../src/payments/states.ts';
import type { TimelineKind } from '../../src/payments/timeline.ts';
import { Badge, type Tone } from './badge.tsx';
import { catalogue } from './language.ts';

/** A transaction's status in a word. */
export const STATES: Record<TransactionStatus, string> = catalogue(
  {
    SUCCESS: 'Success',
    PENDING: 'Pending',
    FAILED: 'Failed',
    CANCELLED: 'Cancelled',
    EXPIRED: 'Expired',
  },
  {
    SUCCESS: 'ተሳክቷል',
    PENDING: 'በመጠባበቅ ላይ',
    FAILED: 'አልተሳካም',
    CANCELLED: 'ተሰርዟል',
    EXPIRED: 'ጊዜው አልፏል',
  },
);

/** The entries of the timeline. */
export const KINDS: Record<TimelineKind, string> = catalogue(
  {
    'session.created': 'Session created',
    'session.expired': 'Session expired',
    'session.cancelled': 'Cancelled by the customer',
    'attempt.started': 'Customer chose a channel',
    'attempt.declined': 'Declined by the provider',
    'attempt.withdrawn': 'Customer took the attempt back',
    'provider.responded': "Provider's answer",
    'payment.succeeded': 'Paid',
    'payment.held': 'Money held: amount, currency or reference differ',
    'payment.duplicate': 'Paid a second time',
    'payment.accepted': 'Held money released',
    'payment.returned': 'Money returned to the customer',
    'reconciliation.confirmed_unpaid': "Not in the provider's statements: not paid",
    'status_report.success': 'Success was reported; the provider was asked',
    'status_report.error': 'A failure was reported; the provider was asked',
    'status_report.cancel': 'A cancellation was requested',
  },
  {
    'session.created': 'የክፍያ ገጽ ተፈጠረ',
    'session.expired': 'የክፍያ ገጹ ጊዜ አለፈ',
    'session.cancelled': 'ደንበኛው ሰርዞታል',
    'attempt.started': 'ደንበኛው የክፍያ መንገድ መረጠ',
    'attempt.declined': 'አቅራቢው አልተቀበለውም',
    'attempt.withdrawn': 'ደንበኛው ሙከራውን ተወው',
    'provider.responded': 'የአቅራቢው ምላሽ',
    'payment.succeeded': 'ተከፈለ',
    'payment.held': 'ገንዘቡ ተይዟል፦ መጠን፣ የገንዘብ ዓይነት ወይም ማጣቀሻ ይለያል',
    'payment.duplicate': 'ለሁለተኛ ጊዜ ተከፈለ',
    'payment.accepted': 'የተያዘው ገንዘብ ተለቀቀ',
    'payment.returned': 'ገንዘቡ ለደንበኛው ተመለሰ',
    'reconciliation.confirmed_unpaid': 'በአቅራቢው መግለጫ የለም፦ አልተከፈለም',
    'status_report.success': 'ስኬት ተነግሯል፤ አቅራቢው ተጠይቋል',
    'status_report.error': 'አለመሳካት ተነግሯል፤ አቅራቢው ተጠይቋል',
    'status_report.cancel': 'መሰረዝ ተጠይቋል',
  },
);

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
