import { CHANNEL_NAMES } from '../../../src/merchants/channels/channel.ts';
import { ApiText } from '../../ui/api-text.tsx';
import { channelName } from '../../ui/channel-text.ts';
import { birr, formatBirr } from '../../ui/format.ts';
import { language } from '../../ui/language.ts';
import { ACTIONS } from '../action-text.ts';
import { KINDS as DISCREPANCIES } from '../reconciliation/text.ts';
import type { WorkItem } from '../routes.ts';
import { REASONS } from '../withdrawals/text.ts';
import type { KINDS, STALLED_KINDS } from './text.ts';

type Action = keyof typeof ACTIONS;
type Kind = keyof typeof KINDS | keyof typeof STALLED_KINDS;
// oxlint-disable-next-line typescript/no-explicit-any -- each kind has facts of its own
type Sentence = (facts: any, id: string) => string;

const OVERPAID = 'አቅራቢው ከመጠን በላይ ከፍሏል፣ ትርፉን መልሶ መውሰድ አለበት';

/** The provider may have reported another currency. */
const amountText = (amount: number, currency: string): string =>
  currency === 'ETB' ? birr(amount) : `${formatBirr(amount)} ${currency}`;

/** What an item is about, in Amharic, by its kind and its facts. The API has it in English. */
const AMHARIC: Record<Kind, Sentence> = {
  WITHDRAWAL_REVIEW: ({ destination, approvalsGiven, approvalsNeeded }) =>
    `ለ${destination?.accountName} የሚከፈል ወጪ ምርመራ ይጠብቃል፤ ከ${approvalsNeeded} ማጽደቆች ${approvalsGiven} ተሰጥተዋል`,
  REFUND_UNKNOWN: () => 'አቅራቢው ውጤቱን አላሳወቀም፣ ወይም የሚጋጩ ውጤቶችን አሳውቋል',
  REFUND_CONFLICT: () => 'አቅራቢው ሳይቀበለው ገንዘቡ ተለቋል፣ አሁን ግን ተመልሷል ይላል',
  WITHDRAWAL_UNKNOWN: () => 'አቅራቢው ውጤቱን አላሳወቀም፣ ወይም የሚጋጩ ውጤቶችን አሳውቋል',
  WITHDRAWAL_CONFLICT: () => 'አቅራቢው ከተመዘገበው የተለየ ውጤት አሳውቋል',
  PAYMENT_HELD: ({ checkoutOrderNo, expected, received, currency }) =>
    `${checkoutOrderNo}፦ የተጠበቀው ${birr(expected)}፣ የደረሰው ${received === null ? '–' : amountText(received, currency)}`,
  PAYMENT_DUPLICATE: ({ checkoutOrderNo }) => `${checkoutOrderNo}፦ ለሁለተኛ ጊዜ ተከፍሏል`,
  PAYMENT_UNKNOWN: () => 'ውጤቱ ሳይታወቅ አብቅቷል',
  SETTLEMENT_APPROVAL: () => 'የሚጸድቅ ወይም ውድቅ የሚደረግ ዝውውር',
  SETTLEMENT_READY_TO_SEND: () => 'የጸደቀ፣ ወደ ባንክ ገና ያልተላከ ዝውውር',
  SETTLEMENT_OVERDUE: () => 'እስከ መጨረሻው የሚጠበቅ ቀን ከባንኩ ውጤት አልመጣም',
  SETTLEMENT_CREDITED_LATE: () => 'ባንኩ ካልተሳካ በኋላ መግባቱን አስታውቋል፦ ገንዘቡ ለነጋዴው ተለቋል፣ ገቢው አልተመዘገበም',
  BANK_ACCOUNT: () => 'የሚረጋገጥ የተገናኘ የባንክ ሂሳብ',
  KYC: ({ submission }) => `የሚወሰን የማረጋገጫ ማመልከቻ (${submission}ኛ ማስገቢያ)`,
  CHANNEL_REQUEST: ({ channel }) => `ነጋዴው ${channelName(channel)} ጠይቋል`,
  CREDENTIALS_PENDING: ({ channel }) => `ሥራ ላይ የሚውሉ የ${channelName(channel)} መለያዎች`,
  CREDENTIALS_ENDING: ({ channel }) => `የ${channelName(channel)} መለያዎች በቅርቡ ያበቃሉ፦ ይተኳቸው`,
  RECONCILIATION: ({ discrepancy, orderId }) =>
    `${DISCREPANCIES[discrepancy as keyof typeof DISCREPANCIES]}፦ ${orderId}`,
  RECONCILIATION_FAILED: () => 'ቀኑ ሙሉ በሙሉ አልተመሳከረም፦ እንደገና ይጠይቁ',
  RECEIPT_UNALLOCATED: () => 'ባንኩ ከማይታወቅ ከፋይ የተቀበለው',
  PAYOUT_OVERPAID: (_facts, id) =>
    id.startsWith('rcp_') ? 'ትርፉ ከተመለሰ በኋላ ክፍያው በሙሉ ተመልሷል፦ አቅራቢው ዕዳ ሳይኖርበት ሲቀር ያስተካክሉት' : OVERPAID,
  REFUND_OVERPAID: () => OVERPAID,
  PROPOSAL: ({ action }) => `የሚረጋገጥ ሐሳብ፦ ${ACTIONS[action as Action] ?? action}`,
  DEAD_LETTER: ({ event, checkoutOrderNo, receiverHost, attempts }) =>
    `${[event, checkoutOrderNo].filter(Boolean).join(' · ')} ወደ ${receiverHost} አልደረሰም፤ ሙከራዎች፦ ${attempts}`,
  OUTBOX_STALLED: ({ failures }) => `ወደ Temporal አልተላከም፤ ያልተሳኩ ሙከራዎች፦ ${failures}`,
  DELIVERY_PAST_DUE: ({ attempts }) => `ቀጣዩ ሙከራ ዘግይቷል፤ እስካሁን የተደረጉ ሙከራዎች፦ ${attempts}`,
  PAYMENT_PENDING: () => 'የክፍያ ገጹ አብቅቷል፣ ሙከራው ግን አላበቃም',
  REFUND_PENDING: ({ stage }) => (stage === 'CREATED' ? 'ገና አልተላከም' : 'ተልኳል፣ ገና አልተመለሰም'),
  WITHDRAWAL_PENDING: ({ stage }) => (stage === 'CREATED' ? 'ገና አልተላከም' : 'ተልኳል፣ ገና አልተከፈለም'),
  SETTLEMENT_PENDING: ({ status }) =>
    status === 'REQUESTED' ? 'የሙከራ አካባቢው ገና አልወሰነም' : 'የመጨረሻው የሚጠበቅ ቀን አልፎ እንደዘገየ አልተመዘገበም',
  RECONCILIATION_MISSING: () => 'የዚህ ቀን ማመሳከር አልተጠየቀም፦ በTemporal የnightlyReconciliation መርሐ ግብርን ይመልከቱ',
  RECONCILIATION_PENDING: () => 'የቀኑ ማመሳከር ተጠይቆ አልተጀመረም፣ ወይም አላበቃም',
  REPORT_PENDING: ({ status }) => (status === 'QUEUED' ? 'ዝግጅቱ አልተጀመረም' : 'ዝግጅቱ ተጀምሯል፣ ግን አይራመድም'),
};

/** The words for codes in the API's sentences, by the kinds that have them. */
const CODES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  WITHDRAWAL_REVIEW: REASONS,
  CHANNEL_REQUEST: CHANNEL_NAMES,
  CREDENTIALS_PENDING: CHANNEL_NAMES,
  CREDENTIALS_ENDING: CHANNEL_NAMES,
  RECONCILIATION: DISCREPANCIES,
  PROPOSAL: ACTIONS,
};

/** What an item is about. */
export function What({ item: { kind, id, what, detail } }: { item: WorkItem }) {
  const sentence = Object.entries(AMHARIC).find(([one]) => one === kind)?.[1];
  if (language === 'am' && sentence) return sentence(detail, id);
  const text = what.replaceAll(/[A-Za-z]+(?:[._-][A-Za-z]+)*/g, (word) => CODES[kind]?.[word] ?? word);
  const { transactionId, checkoutOrderNo } = detail;
  return <ApiText text={text.replace(String(transactionId), String(checkoutOrderNo ?? transactionId))} />;
}
