import { formatCount } from '../../ui/format.ts';
import { catalogue } from '../../ui/language.ts';
import type { MerchantDetail } from '../routes.ts';

/** The texts of merchants. */
export const text = catalogue({
  title: ['Merchants', 'ነጋዴዎች'],
  none: ['No merchant matches these filters.', 'ከእነዚህ ማጣሪያዎች ጋር የሚስማማ ነጋዴ የለም።'],
  search: ['Id, or a part of the name', 'መለያ ወይም የስም ክፍል'],
  name: ['Name', 'ስም'],
  createdAt: ['Created at', 'የተፈጠረበት ጊዜ'],
  verification: ['Verification', 'ማረጋገጫ'],
  bankAccount: ['Bank account', 'የባንክ ሂሳብ'],
  ACTIVE: ['Active', 'ንቁ'],
  SUSPENDED: ['Suspended', 'የታገደ'],
  balance: ['Balance', 'ቀሪ ሂሳብ'],
  available: ['Available', 'ሊወጣ የሚችል'],
  reserved: ['Reserved', 'የተያዘ'],
  feesToDate: ['Fees to date', 'እስካሁን የተከፈለ የአገልግሎት ክፍያ'],
  netSettled: ['Settled to date', 'እስካሁን ወደ ባንክ የተላከ'],
  users: ['Users of the portal', 'የፖርታሉ ተጠቃሚዎች'],
  noUsers: ['Nobody signs in for this merchant yet.', 'ለዚህ ነጋዴ እስካሁን የሚገባ ተጠቃሚ የለም።'],
  role: ['Role', 'ሚና'],
  email: ['E-mail', 'ኢሜይል'],
  twoFactor: ['Two-factor', 'ሁለት ደረጃ ማረጋገጫ'],
  channels: ['Channels', 'የክፍያ መንገዶች'],
  usable: ['usable', 'ይሠራል'],
  account: ['Account at the provider', 'በአቅራቢው ያለ ሂሳብ'],
  OWN: ["the merchant's own", 'የራሱ'],
  PLATFORM: ["the platform's", 'የመድረኩ'],
  missingSettings: ['Missing settings', 'የጎደሉ ቅንብሮች'],
  approval: ['Approval', 'ማጽደቅ'],
  enabled: ['Turned on', 'በርቷል'],
  yes: ['yes', 'አዎ'],
  no: ['no', 'አይ'],
  fees: ['Fees', 'የአገልግሎት ክፍያዎች'],
  limits: ['Limits', 'ገደቦች'],
  direction: ['Direction', 'አቅጣጫ'],
  rate: ['Rate', 'መጠን በመቶ'],
  fixed: ['Fixed', 'ቋሚ'],
  min: ['At least', 'ቢያንስ'],
  max: ['At most', 'ቢበዛ'],
  daily: ['Per day', 'በቀን'],
  tax: ['Tax', 'ግብር'],
  scheduled: ['scheduled', 'የታቀደ'],
  own: ['own', 'የራሱ'],
  standard: ['standard', 'መደበኛ'],
  rule: ['Rule', 'ደንብ'],
  points: (count: number) => [`${formatCount(count / 100)} %`, `${formatCount(count / 100)} %`],
  review: ['Review of withdrawals', 'የወጪዎች ምርመራ'],
  largeAmount: ['Reviewed from', 'የሚመረመረው ከ'],
  twoPersonAmount: ['Two approvals from', 'ሁለት ማጽደቅ ከ'],
  perHourMax: ['At most within an hour', 'በአንድ ሰዓት ቢበዛ'],
  settlementLimit: ['Limits of one settlement', 'የአንድ ዝውውር ገደቦች'],
  keys: ['API keys', 'የAPI ቁልፎች'],
  key: ['Key', 'ቁልፍ'],
  keyKind: ['Permissions', 'ፈቃዶች'],
  lastUsedAt: ['Last used', 'መጨረሻ ጥቅም ላይ የዋለው'],
  state: ['State', 'ሁኔታ'],
  noKeys: ['There is no key in this environment.', 'በዚህ አካባቢ ቁልፍ የለም።'],
  never: ['never', 'አያውቅም'],
  links: ['Of this merchant', 'የዚህ ነጋዴ'],
  transactions: ['Transactions', 'ግብይቶች'],
  withdrawals: ['Withdrawals', 'ወጪዎች'],
  settlements: ['Settlements', 'ወደ ባንክ ዝውውሮች'],
  deliveries: ['Deliveries', 'መላኪያዎች'],
  actions: ['Commands', 'ትዕዛዞች'],
});

type Channel = MerchantDetail['live']['channels'][number];

/** Why customers cannot pay through a channel. */
export const CHANNEL_REASONS: Record<NonNullable<Channel['reason']>, string> = catalogue({
  COMING_SOON: ['coming soon', 'በቅርቡ'],
  MAINTENANCE: ['under maintenance', 'በጥገና ላይ'],
  NOT_CONFIGURED: ['not configured', 'አልተዋቀረም'],
  KYC_TIER: ['not of its tier', 'ደረጃው አይፈቅድም'],
  UNAVAILABLE: ['its provider does not respond', 'አቅራቢው ምላሽ አይሰጥም'],
  NOT_APPROVED: ['not approved', 'አልጸደቀም'],
  DISABLED: ['turned off by the merchant', 'በነጋዴው ጠፍቷል'],
});

/** Whether a merchant may offer a channel. */
export const APPROVALS: Record<Channel['approval'], string> = catalogue({
  NONE: ['not requested', 'አልተጠየቀም'],
  REQUESTED: ['requested', 'ተጠይቋል'],
  APPROVED: ['approved', 'ጸድቋል'],
  SUSPENDED: ['suspended', 'ታግዷል'],
});
