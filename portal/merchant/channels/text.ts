import { formatBirr } from '../../ui/format.ts';
import { catalogue } from '../../ui/language.ts';

/** The texts of payment channels. */
export const text = catalogue({
  title: ['Channels', 'የክፍያ መንገዶች'],
  intro: [
    'The channels that customers can pay through. A change applies to new payments; payments under way continue.',
    'ደንበኞች የሚከፍሉባቸው መንገዶች። ለውጥ የሚሠራው ለአዲስ ክፍያዎች ነው፤ የተጀመሩት ይቀጥላሉ።',
  ],
  introTest: [
    'In test a channel is approved at once. In live Meskot approves each channel for you.',
    'በሙከራ ላይ እያንዳንዱ መንገድ ወዲያውኑ ይፈቀዳል። በእውነተኛው ላይ መስኮት እያንዳንዱን መንገድ ይፈቅድልዎታል።',
  ],
  noneUsable: ['No channel can be used just now: customers cannot pay.', 'አሁን የሚሠራ የክፍያ መንገድ የለም፦ ደንበኞች መክፈል አይችሉም።'],
  offer: (channel: string) => [`Offer ${channel}`, `${channel} ይቅረብ`],
  request: ['Request approval', 'ፈቃድ ይጠይቁ'],
  withdraw: ['Withdraw the request', 'ጥያቄውን ይተዉ'],
  isOn: (channel: string) => [`${channel} is on.`, `${channel} በርቷል።`],
  isOff: (channel: string) => [`${channel} is off for new payments.`, `${channel} ለአዲስ ክፍያዎች ጠፍቷል።`],
  isRequested: (channel: string) => [`${channel} is requested.`, `${channel} ተጠይቋል።`],
  isWithdrawn: (channel: string) => [`The request for ${channel} is withdrawn.`, `የ${channel} ጥያቄ ተትቷል።`],
  usable: ['In use', 'በሥራ ላይ'],
  off: ['Off', 'ጠፍቷል'],
  comingSoon: ['Coming soon', 'በቅርቡ'],
  notUsable: ['Not usable', 'አይሠራም'],
  inMaintenance: ['Maintenance', 'ጥገና'],
  approval: ['Approval', 'ፈቃድ'],
  NONE: ['Not requested', 'አልተጠየቀም'],
  REQUESTED: ['Requested', 'ተጠይቋል'],
  APPROVED: ['Approved', 'ተፈቅዷል'],
  SUSPENDED: ['Suspended', 'ታግዷል'],
  works: ['Customers can pay with it.', 'ደንበኞች በዚህ መክፈል ይችላሉ።'],
  DISABLED: ['You have switched it off: customers are not offered it.', 'እርስዎ አጥፍተውታል፦ ለደንበኞች አይቀርብም።'],
  COMING_SOON: [
    'Announced, and not available yet. It can be switched on here once it opens; nothing is needed from you.',
    'ታውቋል፣ ግን ገና አልተጀመረም። ሲጀመር እዚህ ማብራት ይችላሉ፤ ከእርስዎ ምንም አያስፈልግም።',
  ],
  maintenanceUntil: (until: string) => [
    `Under maintenance until ${until}. Payments under way continue; switch it on afterwards.`,
    `እስከ ${until} ጥገና ላይ ነው። የተጀመሩ ክፍያዎች ይቀጥላሉ፤ ከዚያ በኋላ ያብሩት።`,
  ],
  MAINTENANCE: [
    'Under maintenance. Payments under way continue; switch it on afterwards.',
    'ጥገና ላይ ነው። የተጀመሩ ክፍያዎች ይቀጥላሉ፤ ከዚያ በኋላ ያብሩት።',
  ],
  NOT_CONFIGURED: [
    'Meskot has not connected it to your account at the provider yet. Ask the support of Meskot when it will be.',
    'መስኮት በአቅራቢው ካለዎት ሂሳብ ጋር ገና አላገናኘውም። መቼ እንደሚገናኝ የመስኮትን ድጋፍ ይጠይቁ።',
  ],
  NOT_APPROVED: ['Meskot has to approve it for you first.', 'መጀመሪያ መስኮት ሊፈቅድልዎ ይገባል።'],
  waits: [
    'An operator of Meskot decides about your request. The support of Meskot can tell you when.',
    'ስለ ጥያቄዎ የመስኮት ሠራተኛ ይወስናል። መቼ እንደሚወሰን የመስኮትን ድጋፍ ይጠይቁ።',
  ],
  suspended: [
    'Meskot has suspended it for you. Only the support of Meskot can tell you why, and have it approved again.',
    'መስኮት አግዶታል። ምክንያቱን የሚነግርዎና እንደገና የሚያስፈቅድልዎ የመስኮት ድጋፍ ብቻ ነው።',
  ],
  KYC_TIER: [
    'Your verification does not include it. A further verification does.',
    'ማረጋገጫዎ ይህን አያካትትም። ተጨማሪ ማረጋገጫ ያካትተዋል።',
  ],
  UNAVAILABLE: [
    'Its provider does not respond just now. It is tried again by itself; customers see the other channels.',
    'አቅራቢው አሁን ምላሽ አይሰጥም። በራሱ እንደገና ይሞከራል፤ ደንበኞች ሌሎቹን መንገዶች ያያሉ።',
  ],
  toVerification: ['Go to the verification', 'ወደ ማረጋገጫው ይሂዱ'],
  perPayment: ['Per payment', 'በአንድ ክፍያ'],
  perDay: ['Payments per day', 'በቀን የሚከፈል'],
  perWithdrawal: ['Per withdrawal', 'በአንድ ወጪ'],
  withdrawnPerDay: ['Withdrawals per day', 'በቀን የሚወጣ'],
  between: (min: number, max: number) => [
    `${formatBirr(min)} – ${formatBirr(max)} ETB`,
    `${formatBirr(min)} – ${formatBirr(max)} ብር`,
  ],
  upTo: (max: number) => [`up to ${formatBirr(max)} ETB`, `እስከ ${formatBirr(max)} ብር`],
  plannedMaintenance: ['Maintenance', 'ጥገና'],
  fromUntil: (from: string, until: string) => [`${from} – ${until}`, `${from} – ${until}`],
});
