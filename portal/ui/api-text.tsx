import type { ReactNode } from 'react';

import type { ErrorCode } from '../../src/lib/errors.ts';
import type { FailureCode } from '../../src/webhooks/delivery/failure.ts';
import { CallFailure } from './call.ts';
import { language } from './language.ts';
import { text } from './text.ts';

/** What each error means, in Amharic. */
const ERRORS: Record<ErrorCode, string> = {
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
  MERCHANT_SUSPENDED: 'የነጋዴው አካውንት ታግዷል፦ ድጋፍ ሰጪዎችን ያነጋግሩ።',
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

/** What a code of the API means, in Amharic; undefined: it is unknown. */
export const amharicOf = (code: string): string | undefined =>
  Object.entries({ ...ERRORS, ...DELIVERY_FAILURES }).find(([one]) => one === code)?.[1];

const isEthiopic = (written: string): boolean => /\p{Script=Ethiopic}/u.test(written);

type ApiTextProps = {
  /** English, unless a person has written it. */
  text: string;
  /** Its meaning. */
  amharic?: string | undefined;
};

/** A text of the API in the language of the page; one whose meaning is unknown stays as it is. */
export function ApiText({ text: given, amharic }: ApiTextProps) {
  if (language === 'en' || isEthiopic(given)) return given;
  return amharic ?? <span lang="en">{given}</span>;
}

/** The English words of the API behind a button, on pages of another language: they may be more exact than their meaning. */
export function InEnglish({ text: given }: { text: string }) {
  if (language === 'en' || given === '') return null;
  return (
    <details className="text-xs">
      <summary>{text.inEnglish}</summary>
      <p lang="en">{given}</p>
    </details>
  );
}

/** What is wrong with the value of a field, as the API has it but for the value, which is in sight; undefined: nothing. */
export function issueOf(error: unknown, field: string): ReactNode {
  const found = error instanceof CallFailure ? error.details.find((one) => one.field === field) : undefined;
  const issue = found?.issue.replace(/, got .*$/s, '');
  if (issue === undefined || language === 'en') return issue;
  return (
    <>
      {text.notAccepted} <span lang="en">{issue}</span>
    </>
  );
}
