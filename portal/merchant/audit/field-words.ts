import { BANKS } from '../../../src/lib/banks.ts';
import { DELIVERY_TEXTS } from '../../ui/delivery-status.ts';
import { codeText, fieldLabel, fieldText, STATES } from '../../ui/field-words.ts';
import { listed } from '../../ui/format.ts';
import { catalogue } from '../../ui/language.ts';
import { text as channels } from '../channels/text.ts';
import { text as keys } from '../keys/text.ts';
import { text as reports } from '../reports/text.ts';
import type { AuditedChange } from '../routes.ts';

type Words = Readonly<Record<string, string>>;

/** The names of the fields that only the audit log of merchants has. */
const FIELDS = catalogue({
  successorOf: ['Rotated key', 'የተቀየረው ቁልፍ'],
  requestId: ['Your reference', 'የእርስዎ ማጣቀሻ'],
  requestedBy: ['Requested by', 'የጠየቀው'],
  destination: ['Destination', 'መድረሻ'],
  secondPersonFrom: ['Second person from', 'ሁለተኛ ሰው ከ'],
  bankCode: ['Bank', 'ባንክ'],
  accountNumber: ['Account number', 'የሂሳብ ቁጥር'],
  accountName: ['Account holder', 'የሂሳብ ባለቤት'],
  period: ['Period', 'ጊዜ'],
  format: ['Format', 'ቅርጸት'],
  recipients: ['Recipients', 'ተቀባዮች'],
  url: ['Address of the receiver', 'የተቀባዩ አድራሻ'],
  eventTypes: ['Events', 'ክስተቶች'],
  description: ['Description', 'መግለጫ'],
  signatureEncoding: ['Encoding of the signature', 'የፊርማው አጻጻፍ'],
  headers: ['Names of headers', 'የራስጌዎች ስሞች'],
  overlapSeconds: ['Overlap in seconds', 'የመደራረብ ሰከንዶች'],
  force: ['Delivered ones too', 'የደረሱትም ጭምር'],
  startDate: ['First day', 'የመጀመሪያ ቀን'],
  endDate: ['Last day', 'የመጨረሻ ቀን'],
  limit: ['At most', 'ቢበዛ'],
  ratePerSecond: ['Per second', 'በሰከንድ'],
});

const { payments, refunds, withdrawals, settlements, day, week, month, ethiopianMonth } = reports;
const { NONE, REQUESTED, APPROVED, SUSPENDED } = channels;

/** The words for the values of a field. */
const VALUES: Readonly<Record<string, Words>> = {
  kind: { secret: keys.allAccess, restricted: keys.someAccess, payments, refunds, withdrawals, settlements },
  approval: { NONE, REQUESTED, APPROVED, SUSPENDED },
  period: { day, week, month, ethiopianMonth },
  bankCode: BANKS,
};

const statesOf = (action: string): Words | undefined =>
  ({ ...STATES, event: DELIVERY_TEXTS } as Readonly<Record<string, Words>>)[action.slice(0, action.indexOf('.'))];

/** The names and values of the fields of an action in words. */
export function wordsOf(action: AuditedChange['action']) {
  const codeOf = (field: string, code: string) =>
    (field === 'status' ? statesOf(action)?.[code] : VALUES[field]?.[code]) ?? codeText(field, code);
  const valueOf = (field: string, value: unknown): string | undefined => {
    // Of a withdrawal: a phone, or an account at a bank.
    if (field === 'destination' && value !== null && typeof value === 'object')
      return listed(Object.entries(value).map(([name, one]) => one && (codeOf(name, String(one)) ?? String(one))));
    return fieldText(field, value, (code) => codeOf(field, code));
  };
  return { labelOf: (field: string) => (FIELDS as Words)[field] ?? fieldLabel(field), valueOf };
}
