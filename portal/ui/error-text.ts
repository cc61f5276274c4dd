import type { ErrorCode } from '../../src/lib/errors.ts';
import { CallFailure } from './call.ts';
import { language } from './language.ts';
import { text } from './text.ts';

/** What each error of the API means, in Amharic. Its message is English, and stands below as a detail. */
const AMHARIC: Record<ErrorCode, string> = {
  VALIDATION_ERROR: 'ከተላኩት ዋጋዎች አንዱ ተቀባይነት የለውም።',
  INVALID_JSON: 'የተላከው ሊነበብ አልቻለም።',
  INVALID_DATE_RANGE: 'የመጀመሪያው ቀን ከመጨረሻው ቀን በኋላ ነው።',
  DATE_RANGE_TOO_WIDE: 'በመጀመሪያውና በመጨረሻው ቀን መካከል ያለው ጊዜ በጣም ረጅም ነው፦ በክፍል ይጠይቁ።',
  UNSUPPORTED_CURRENCY: 'የሚሠራው በብር ብቻ ነው።',
  AUTHENTICATION_REQUIRED: 'እንደገና ይግቡ።',
  INVALID_API_KEY: 'ቁልፉ ትክክል አይደለም።',
  API_KEY_EXPIRED: 'ቁልፉ ጊዜው አልፏል።',
  API_KEY_REVOKED: 'ቁልፉ ተሰርዟል።',
  INSUFFICIENT_SCOPE: 'የእርስዎ ሚና ይህን አያካትትም።',
  TWO_FACTOR_REQUIRED: 'ለዚህ መጀመሪያ ሁለት ደረጃ ማረጋገጫን ያብሩ።',
  STEP_UP_REQUIRED: 'ለዚህ የማረጋገጫ መተግበሪያዎ ኮድ ያስፈልጋል።',
  IP_NOT_ALLOWED: 'ከዚህ አድራሻ መጠቀም አልተፈቀደም።',
  KYC_REQUIRED: 'እውነተኛው የሚከፈተው ድርጅትዎ ሲረጋገጥና አንድ የሙከራ ክፍያ ሲሳካ ነው።',
  CHANNEL_DISABLED: 'ይህ የክፍያ መንገድ አልበራም።',
  CHANNEL_NOT_AVAILABLE: 'ይህ የክፍያ መንገድ አሁን አይሠራም።',
  MERCHANT_SUSPENDED: 'የነጋዴው መለያ ታግዷል፦ ድጋፍ ሰጪዎችን ያነጋግሩ።',
  NOT_FOUND: 'የተጠየቀው አልተገኘም።',
  METHOD_NOT_ALLOWED: 'ይህ ጥያቄ እዚህ አይቻልም።',
  DUPLICATE_REFERENCE: 'ይህ የራስዎ መለያ ከዚህ በፊት ጥቅም ላይ ውሏል።',
  IDEMPOTENCY_IN_PROGRESS: 'የመጀመሪያው ጥያቄ ገና በሂደት ላይ ነው፦ ከጥቂት ጊዜ በኋላ ይሞክሩ።',
  INVALID_STATE: 'አሁን ባለበት ሁኔታ ይህን ማድረግ አይቻልም።',
  PAYLOAD_TOO_LARGE: 'የተላከው በጣም ትልቅ ነው።',
  UNSUPPORTED_MEDIA_TYPE: 'ይህ የፋይል ዓይነት ተቀባይነት የለውም።',
  IDEMPOTENCY_KEY_REUSED: 'ጥያቄው ከቀድሞው ይለያል፦ ገጹን እንደገና ይክፈቱና ይሞክሩ።',
  INSUFFICIENT_BALANCE: 'ቀሪ ሂሳቡ መጠኑን ከክፍያውና ከግብሩ ጋር አይሸፍንም።',
  AMOUNT_BELOW_MINIMUM: 'መጠኑ ከዝቅተኛው በታች ነው።',
  AMOUNT_ABOVE_MAXIMUM: 'መጠኑ ከከፍተኛው በላይ ነው።',
  DAILY_LIMIT_EXCEEDED: 'መጠኑ ከዕለታዊው ገደብ ከቀረው ይበልጣል።',
  BANK_ACCOUNT_NOT_VERIFIED: 'የተረጋገጠ የባንክ ሂሳብ ያስፈልጋል።',
  RATE_LIMITED: 'ጥያቄዎች በዝተዋል፦ ጥቂት ጠብቀው ይሞክሩ።',
  INTERNAL_ERROR: 'በእኛ በኩል ስህተት ተፈጥሯል። ከቀጠለ ድጋፍ ሰጪዎችን ከጥያቄው መለያ ጋር ያነጋግሩ።',
  SERVICE_UNAVAILABLE: 'አገልግሎቱ ለጊዜው አይሠራም፦ ጥቂት ጠብቀው ይሞክሩ።',
};

/** What an error of this code means, in Amharic. */
export const amharicOf = (code: string): string | undefined =>
  Object.entries(AMHARIC).find(([one]) => one === code)?.[1];

/** What is wrong with the value of a field; undefined: nothing. */
export function issueOf(error: unknown, field: string): string | undefined {
  const issue = error instanceof CallFailure ? error.details.find((one) => one.field === field)?.issue : undefined;
  return issue === undefined || language === 'en' ? issue : `${text.notAccepted}፦ ${issue}`;
}
