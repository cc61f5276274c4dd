import type { ApplicationDetails, DocumentKind, TimelineKind } from '../../src/merchants/kyc/schema.ts';
import type { KycStatus } from '../../src/merchants/operations.ts';
import { catalogue } from './language.ts';

export type FieldName = keyof ApplicationDetails;
export type BusinessType = NonNullable<ApplicationDetails['businessType']>;
export type Region = NonNullable<ApplicationDetails['region']>;

export const text = catalogue({
  business: ['The business', 'ድርጅቱ'],
  place: ['Address and contact', 'አድራሻና ተጠሪ'],
  documents: ['Documents', 'ሰነዶች'],
  choose: ['Choose…', 'ይምረጡ…'],
});

type Words<Known extends string> = Record<Known, string> & Readonly<Record<string, string>>;

/** The states of an application. */
export const KYC_STATES: Words<KycStatus> = catalogue({
  NOT_STARTED: ['Not submitted yet', 'ገና አልቀረበም'],
  SUBMITTED: ['Submitted', 'ቀርቧል'],
  UNDER_REVIEW: ['Under review', 'በምርመራ ላይ'],
  APPROVED: ['Verified', 'ተረጋግጧል'],
  REJECTED: ['Rejected', 'ውድቅ ተደርጓል'],
  MORE_INFO_NEEDED: ['More information needed', 'ተጨማሪ መረጃ ያስፈልጋል'],
});

/** The entries of an application's timeline. */
export const KYC_STEPS: Words<TimelineKind> = catalogue({
  'application.saved': ['Saved', 'ተቀምጧል'],
  'document.uploaded': ['Document added', 'ሰነድ ታክሏል'],
  'application.submitted': ['Submitted', 'ቀርቧል'],
  'review.started': ['Under review', 'በምርመራ ላይ'],
  'review.approved': ['Verified', 'ተረጋግጧል'],
  'review.rejected': ['Rejected', 'ውድቅ ተደርጓል'],
  'review.more_info_needed': ['More information requested', 'ተጨማሪ መረጃ ተጠይቋል'],
  'tier.changed': ['Tier changed', 'ደረጃው ተለውጧል'],
});

export const FIELD_LABELS: Record<FieldName, string> = catalogue({
  legalName: ['Legal name', 'ሕጋዊ ስም'],
  tradeName: ['Trade name', 'የንግድ ስም'],
  businessType: ['Kind of business', 'የድርጅቱ ዓይነት'],
  tin: ['Taxpayer number (TIN)', 'የግብር ከፋይ ቁጥር (TIN)'],
  tradeLicenceNumber: ['Trade licence number', 'የንግድ ፈቃድ ቁጥር'],
  expectedMonthlyVolume: ['Expected payments per month, in ETB', 'በወር የሚጠበቅ ክፍያ፣ በብር'],
  website: ['Website', 'ድረ ገጽ'],
  region: ['Region', 'ክልል'],
  address: ['Address', 'አድራሻ'],
  contactPerson: ['Contact person', 'ተጠሪ'],
  phone: ['Phone of the contact person', 'የተጠሪው ስልክ'],
  email: ['E-mail of the contact person', 'የተጠሪው ኢሜይል'],
  supportPhone: ['Phone for customers', 'ለደንበኞች የሚሰጥ ስልክ'],
});

/** What each field takes: its hint, and part of the error of a wrong value. */
export const FIELD_RULES: Record<FieldName, string> = catalogue({
  legalName: ['As in the trade licence, at most 200 characters.', 'በንግድ ፈቃዱ ላይ እንዳለው፣ ቢበዛ 200 ፊደላት።'],
  tradeName: ['The name that customers know, at most 100 characters.', 'ደንበኞች የሚያውቁት ስም፣ ቢበዛ 100 ፊደላት።'],
  businessType: ['As in the trade licence.', 'በንግድ ፈቃዱ ላይ እንዳለው።'],
  tin: ['Its 10 digits.', '10 አሃዞች።'],
  tradeLicenceNumber: ['3 to 50 letters, digits, spaces, or / . -', 'ከ3 እስከ 50 ፊደላት፣ አሃዞች፣ ክፍተቶች ወይም / . -'],
  expectedMonthlyVolume: ['A number above 0 with at most two decimals, such as 250000.', 'ከ0 የሚበልጥ ቁጥር፣ ለምሳሌ 250000።'],
  website: ['A whole address, such as https://shop.example.et.', 'ሙሉ አድራሻ፣ ለምሳሌ https://shop.example.et።'],
  region: ['Where the business is registered.', 'ድርጅቱ የተመዘገበበት።'],
  address: ['Sub-city, woreda and house number, at most 300 characters.', 'ክፍለ ከተማ፣ ወረዳና የቤት ቁጥር፣ ቢበዛ 300 ፊደላት።'],
  contactPerson: [
    'Whom Meskot asks about this application, at most 100 characters.',
    'መስኮት ስለዚህ ማመልከቻ የሚጠይቀው ሰው፣ ቢበዛ 100 ፊደላት።',
  ],
  phone: ['An Ethiopian mobile number: 09…, 07… or +251….', 'የኢትዮጵያ ሞባይል ቁጥር፦ 09…፣ 07… ወይም +251…።'],
  email: ['An address such as name@shop.example.et.', 'እንደ name@shop.example.et ያለ አድራሻ።'],
  supportPhone: [
    'Shown on the checkout page. An Ethiopian mobile number: 09…, 07… or +251….',
    'በክፍያ ገጹ ላይ ይታያል። የኢትዮጵያ ሞባይል ቁጥር፦ 09…፣ 07… ወይም +251…።',
  ],
});

export const BUSINESS_TYPES: Record<BusinessType, string> = catalogue({
  SOLE_PROPRIETOR: ['Sole proprietor', 'የግል ነጋዴ'],
  PARTNERSHIP: ['Partnership', 'የሽርክና ማኅበር'],
  PRIVATE_LIMITED_COMPANY: ['Private limited company', 'ኃላፊነቱ የተወሰነ የግል ማኅበር'],
  SHARE_COMPANY: ['Share company', 'አክሲዮን ማኅበር'],
  COOPERATIVE: ['Cooperative', 'የኅብረት ሥራ ማኅበር'],
  NON_PROFIT: ['Non-profit organisation', 'ለትርፍ ያልተቋቋመ ድርጅት'],
  PUBLIC_ENTERPRISE: ['Public enterprise', 'የመንግሥት የልማት ድርጅት'],
  OTHER: ['Other', 'ሌላ'],
});

export const REGIONS: Record<Region, string> = catalogue({
  ADDIS_ABABA: ['Addis Ababa', 'አዲስ አበባ'],
  AFAR: ['Afar', 'አፋር'],
  AMHARA: ['Amhara', 'አማራ'],
  BENISHANGUL_GUMUZ: ['Benishangul-Gumuz', 'ቤንሻንጉል ጉሙዝ'],
  CENTRAL_ETHIOPIA: ['Central Ethiopia', 'ማዕከላዊ ኢትዮጵያ'],
  DIRE_DAWA: ['Dire Dawa', 'ድሬዳዋ'],
  GAMBELLA: ['Gambella', 'ጋምቤላ'],
  HARARI: ['Harari', 'ሐረሪ'],
  OROMIA: ['Oromia', 'ኦሮሚያ'],
  SIDAMA: ['Sidama', 'ሲዳማ'],
  SOMALI: ['Somali', 'ሶማሌ'],
  SOUTH_ETHIOPIA: ['South Ethiopia', 'ደቡብ ኢትዮጵያ'],
  SOUTH_WEST_ETHIOPIA: ['South West Ethiopia', 'ደቡብ ምዕራብ ኢትዮጵያ'],
  TIGRAY: ['Tigray', 'ትግራይ'],
});

export const DOCUMENT_LABELS: Record<DocumentKind, string> = catalogue({
  TRADE_LICENCE: ['Trade licence', 'የንግድ ፈቃድ'],
  TIN_CERTIFICATE: ['TIN certificate', 'የግብር ከፋይ ምስክር ወረቀት'],
  OWNER_ID: ['Identity card of the owner', 'የባለቤቱ መታወቂያ'],
  BANK_LETTER: ['Letter of the bank', 'የባንክ ደብዳቤ'],
  LOGO: ['Logo for the checkout page', 'ለክፍያ ገጹ የሚሆን አርማ'],
  OTHER: ['Other document', 'ሌላ ሰነድ'],
});
