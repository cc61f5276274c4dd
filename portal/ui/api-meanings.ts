import type { ErrorCode } from '../../src/lib/errors.ts';
import type { SandboxReason } from '../../src/lib/sandbox-reasons.ts';
import type { FailureCode } from '../../src/webhooks/delivery/failure.ts';

/** What each error means, in Amharic. */
const ERRORS: Record<ErrorCode, string> = {
  VALIDATION_ERROR: 'ካስገቡት ውስጥ ተቀባይነት የሌለው አለ።',
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
  MERCHANT_SUSPENDED: 'የነጋዴው አካውንት ታግዷል፦ ድጋፍ ሰጪዎችን ያነጋግሩ።',
  NOT_FOUND: 'የተጠየቀው አልተገኘም።',
  METHOD_NOT_ALLOWED: 'ይህ ጥያቄ እዚህ አይቻልም።',
  DUPLICATE_REFERENCE: 'ይህ ማጣቀሻ ከዚህ በፊት ጥቅም ላይ ውሏል።',
  IDEMPOTENCY_IN_PROGRESS: 'የመጀመሪያው ጥያቄ ገና በሂደት ላይ ነው፦ ከጥቂት ጊዜ በኋላ ይሞክሩ።',
  INVALID_STATE: 'አሁን ባለበት ሁኔታ ይህን ማድረግ አይቻልም።',
  PAYLOAD_TOO_LARGE: 'የተላከው በጣም ትልቅ ነው።',
  UNSUPPORTED_MEDIA_TYPE: 'ይህ የፋይል ዓይነት ተቀባይነት የለውም።',
  IDEMPOTENCY_KEY_REUSED: 'ጥያቄው ከቀድሞው ይለያል፦ ገጹን እንደገና ይክፈቱና ይሞክሩ።',
  INSUFFICIENT_BALANCE: 'ቀሪ ሂሳቡ መጠኑን ከአገልግሎት ክፍያውና ከግብሩ ጋር አይሸፍንም።',
  AMOUNT_BELOW_MINIMUM: 'መጠኑ ከዝቅተኛው በታች ነው።',
  AMOUNT_ABOVE_MAXIMUM: 'መጠኑ ከከፍተኛው በላይ ነው።',
  DAILY_LIMIT_EXCEEDED: 'መጠኑ ከዕለታዊው ገደብ ከቀረው ይበልጣል።',
  BANK_ACCOUNT_NOT_VERIFIED: 'የተረጋገጠ የባንክ ሂሳብ ያስፈልጋል።',
  RATE_LIMITED: 'ጥያቄዎች በዝተዋል።',
  INTERNAL_ERROR: 'በእኛ በኩል ስህተት ተፈጥሯል። ከቀጠለ ድጋፍ ሰጪዎችን ከጥያቄው መለያ ጋር ያነጋግሩ።',
  SERVICE_UNAVAILABLE: 'አገልግሎቱ ለጊዜው አይሠራም፦ ጥቂት ጠብቀው ይሞክሩ።',
};

/** Why an attempt to deliver an event failed, in Amharic. */
const DELIVERY_FAILURES: Record<FailureCode, string> = {
  http_status: 'አገልጋዩ በ2xx አልመለሰም።',
  timeout: 'አገልጋዩ በጊዜው አልመለሰም።',
  dns: 'የአገልጋዩ ስም አልተገኘም።',
  connect: 'ከአገልጋዩ ጋር መገናኘት አልተቻለም።',
  tls: 'ደህንነቱ የተጠበቀ ግንኙነት (TLS) አልተመሠረተም።',
  connection_reset: 'ግንኙነቱ ምላሽ ሳይደርስ ተቋረጠ።',
  address_not_allowed: 'ምንም አልተላከም፦ ስሙ ወደ ግል አድራሻ ይመራል።',
  interrupted: 'ሙከራው በእኛ በኩል ተቋረጠ።',
  internal_error: 'በእኛ በኩል ስህተት ተፈጥሯል።',
};

/** The reasons that only the sandbox gives, in Amharic. */
const SANDBOX: Record<SandboxReason, string> = {
  SANDBOX_AMOUNT_REJECTED: 'በሙከራ ላይ በ.13 የሚያልቁ መጠኖች ውድቅ ይደረጋሉ።',
  SANDBOX_TIN_REJECTED: 'በሙከራ ላይ በ13 የሚያልቅ የግብር ከፋይ ቁጥር ውድቅ ይደረጋል።',
  SANDBOX_TIN_MORE_INFO: 'በሙከራ ላይ በ15 የሚያልቅ የግብር ከፋይ ቁጥር ተጨማሪ መረጃ ይጠየቅበታል።',
};

/** What a code of the API means, in Amharic; undefined: it is unknown. */
export const amharicOf = (code = ''): string | undefined =>
  Object.entries({ ...ERRORS, ...DELIVERY_FAILURES, ...SANDBOX }).find(([one]) => one === code)?.[1];
