import { formatCount } from '../../ui/format.ts';
import { catalogue } from '../../ui/language.ts';

/** The texts of the overview. */
export const text = catalogue({
  title: ['Overview', 'አጠቃላይ እይታ'],
  volume: ['Volume', 'የክፍያ መጠን'],
  volumeOf: (days: string) => [`Paid per day, ${days}`, `በቀን የተከፈለ፣ ${days}`],
  asTable: ['As a table', 'በሠንጠረዥ'],
  day: ['Day', 'ቀን'],
  paid: ['Paid (ETB)', 'የተከፈለ (ብር)'],
  payments: ['Payments', 'ክፍያዎች'],
  succeeded: ['Succeeded', 'የተሳኩ'],
  share: ['Success', 'ስኬት'],
  shareHelp: ['Of payments on the channel that have ended', 'በመንገዱ ካለቁ ክፍያዎች ውስጥ'],
  channels: ['Success by channel', 'ስኬት በክፍያ መንገድ'],
  channel: ['Channel', 'የክፍያ መንገድ'],
  failures: ['Failures by reason', 'ያልተሳኩ በምክንያት'],
  reason: ['Reason', 'ምክንያት'],
  noFailures: ['No payment failed in these days.', 'በእነዚህ ቀናት ያልተሳካ ክፍያ የለም።'],
  none: ['No payment in these days yet.', 'በእነዚህ ቀናት እስካሁን ክፍያ የለም።'],
  noneHelp: ['Create one and open its link: it appears here at once.', 'አንድ ፈጥረው አገናኙን ይክፈቱ፤ ወዲያውኑ እዚህ ይታያል።'],
  balance: ['Balance', 'ቀሪ ሂሳብ'],
  available: ['Available', 'ሊወጣ የሚችል'],
  reserved: ['Reserved', 'የተያዘ'],
  endpoints: ['Webhook endpoints', 'የዌብሁክ አድራሻዎች'],
  noEndpoints: [
    'No subscription yet: payments are reported to no address.',
    'እስካሁን ምዝገባ የለም፤ ክፍያዎች ለማንኛውም አድራሻ አይላኩም።',
  ],
  waitingDeliveries: (count: number) => [`${formatCount(count)} waiting`, `${formatCount(count)} በመጠባበቅ ላይ`],
  waits: ['What waits', 'የሚጠብቁ'],
  pending: ['Pending payments', 'በመጠባበቅ ላይ ያሉ ክፍያዎች'],
  held: ['Held payments', 'የተያዙ ክፍያዎች'],
  withdrawals: ['Withdrawals under way', 'በሂደት ላይ ያሉ ወጪዎች'],
  toConfirm: ['Withdrawals to be confirmed', 'ማረጋገጫ የሚጠብቁ ወጪዎች'],
  settlements: ['Settlements under way', 'በሂደት ላይ ያሉ ዝውውሮች'],
  undelivered: ['Undelivered events', 'ያልደረሱ ክስተቶች'],
});
