import { channelName } from './channel-text.ts';
import { birr, formatCount, formatDay, formatInstant, listed } from './format.ts';
import { DOCUMENT_LABELS, FIELD_LABELS, KYC_STATES } from './kyc-text.ts';
import { catalogue } from './language.ts';
import { STATES as REFUND_STATES } from './refund-state.tsx';
import { ROLES } from './role-text.ts';
import { STATES as SETTLEMENT_STATES } from './settlement-state.tsx';
import { STATES as WITHDRAWAL_STATES } from './withdrawal-state.tsx';

type Words = Readonly<Record<string, string>>;

/** The names of the fields that the audit logs of merchants and operators share. */
const FIELDS = catalogue({
  status: ['Status', 'ሁኔታ'],
  stage: ['Stage', 'ደረጃ'],
  role: ['Role', 'ሚና'],
  active: ['Active', 'ንቁ'],
  name: ['Name', 'ስም'],
  email: ['E-mail', 'ኢሜይል'],
  amount: ['Amount', 'መጠን'],
  channel: ['Channel', 'የክፍያ መንገድ'],
  enabled: ['Turned on', 'በርቷል'],
  kind: ['Kind', 'ዓይነት'],
  scopes: ['Permissions', 'ፈቃዶች'],
  ipRanges: ['Addresses', 'አድራሻዎች'],
  overlapHours: ['Overlap in hours', 'የመደራረብ ሰዓታት'],
  expiresAt: ['Expires at', 'የሚያበቃበት ጊዜ'],
  reason: ['Reason', 'ምክንያት'],
  reference: ['Reference', 'ማጣቀሻ'],
  transactionId: ['Transaction', 'ግብይት'],
  approval: ['Approval', 'ማጽደቅ'],
  fields: ['Filled in', 'የተሞላው'],
  submission: ['Submission', 'ያቀረበበት ቁጥር'],
  subscriptionId: ['Subscription', 'ምዝገባ'],
  matched: ['Deliveries', 'መላኪያዎች'],
});

const text = catalogue({ yes: ['yes', 'አዎ'], no: ['no', 'አይ'] });

const AMOUNTS = [
  'amount',
  'secondPersonFrom',
  'paidAmount',
  'received',
  'fee',
  'feeTax',
  'fixed',
  'min',
  'max',
  'daily',
  'largeAmount',
  'twoPersonAmount',
  'expected',
  'ours',
  'theirs',
];

/** The words for the values of a field, whatever has it. */
const VALUES: Readonly<Record<string, Words>> = { role: ROLES, kind: DOCUMENT_LABELS, fields: FIELD_LABELS };

/** The words for the states of a resource. */
export const STATES = {
  refund: REFUND_STATES,
  withdrawal: WITHDRAWAL_STATES,
  settlement: SETTLEMENT_STATES,
  kyc: KYC_STATES,
};

const isInstant = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/.test(value);
const isDay = (value: unknown): value is string => typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value);

/** The name of a field; undefined: none is known. */
export const fieldLabel = (field: string): string | undefined => (FIELDS as Words)[field];

/** A code of a field in words; undefined: none are known. */
export const codeText = (field: string, code: string): string | undefined =>
  field === 'channel' ? channelName(code) : VALUES[field]?.[code];

function numberText(field: string, value: number): string {
  // Of the timeline, in santim.
  if (field.endsWith('Santim')) return birr(value / 100);
  return AMOUNTS.includes(field) ? birr(value) : formatCount(value);
}

/** The value of a field in words; undefined: it is its own. `wordsOf`: the words for its codes. */
export function fieldText(
  field: string,
  value: unknown,
  wordsOf: (code: string) => string | undefined,
): string | undefined {
  if (typeof value === 'boolean') return value ? text.yes : text.no;
  if (typeof value === 'number') return numberText(field, value);
  if (Array.isArray(value)) {
    const texts = value.map((one) => (typeof one === 'string' ? (wordsOf(one) ?? one) : undefined));
    return texts.includes(undefined) ? undefined : listed(texts) || '–';
  }
  if (typeof value !== 'string') return undefined;
  if (isInstant(value)) return formatInstant(value);
  return isDay(value) ? formatDay(value) : wordsOf(value);
}
