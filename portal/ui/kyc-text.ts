import type { ApplicationDetails, DocumentKind } from '../../src/merchants/kyc/schema.ts';
import { catalogue } from './language.ts';

export type FieldName = keyof ApplicationDetails;
export type BusinessType = NonNullable<ApplicationDetails['businessType']>;
export type Region = NonNullable<ApplicationDetails['region']>;

export const text = catalogue(
  { business: 'The business', place: 'Address and contact', documents: 'Documents', choose: 'Choose…' },
  { business: 'ድርጅቱ', place: 'አድራሻና ተጠሪ', documents: 'ሰነዶች', choose: 'ይምረጡ…' },
);

export const FIELD_LABELS: Record<FieldName, string> = catalogue(
  {
    legalName: 'Legal name',
    tradeName: 'Trade name',
    businessType: 'Kind of business',
    tin: 'Taxpayer number (TIN)',
    tradeLicenceNumber: 'Trade licence number',
    expectedMonthlyVolume: 'Expected payments per month, in ETB',
    website: 'Website',
    region: 'Region',
    address: 'Address',
    contactPerson: 'Contact person',
    phone: 'Phone of the contact person',
    email: 'E-mail of the contact person',
    supportPhone: 'Phone for customers',
  },
  {
    legalName: 'ሕጋዊ ስም',
    tradeName: 'የንግድ ስም',
    businessType: 'የድርጅቱ ዓይነት',
    tin: 'የግብር ከፋይ ቁጥር (TIN)',
    tradeLicenceNumber: 'የንግድ ፈቃድ ቁጥር',
    expectedMonthlyVolume: 'በወር የሚጠበቅ ክፍያ፣ በብር',
    website: 'ድረ ገጽ',
    region: 'ክልል',
    address: 'አድራሻ',
    contactPerson: 'ተጠሪ',
    phone: 'የተጠሪው ስልክ',
    email: 'የተጠሪው ኢሜይል',
    supportPhone: 'ለደንበኞች የሚሰጥ ስልክ',
  },
);

/** What each field takes: its hint, and part of the error of a wrong value. */
export const FIELD_RULES: Record<FieldName, string> = catalogue(
  {
    legalName: 'As in the trade licence, at most 200 characters.',
    tradeName: 'The name that customers know, at most 100 characters.',
    businessType: 'As in the trade licence.',
    tin: 'Its 10 digits.',
    tradeLicenceNumber: '3 to 50 letters, digits, spaces, or / . -',
    expectedMonthlyVolume: 'A number above 0 with at most two decimals, such as 250000.',
    website: 'A whole address, such as https://shop.example.et.',
    region: 'Where the business is registered.',
    address: 'Sub-city, woreda and house number, at most 300 characters.',
    contactPerson: 'Whom Meskot asks about this application, at most 100 characters.',
    phone: 'An Ethiopian mobile number: 09…, 07… or +251….',
    email: 'An address such as name@shop.example.et.',
    supportPhone: 'Shown on the checkout page. An Ethiopian mobile number: 09…, 07… or +251….',
  },
  {
    legalName: 'በንግድ ፈቃዱ ላይ እንዳለው፣ ቢበዛ 200 ፊደላት።',
    tradeName: 'ደንበኞች የሚያውቁት ስም፣ ቢበዛ 100 ፊደላት።',
    businessType: 'በንግድ ፈቃዱ ላይ እንዳለው።',
    tin: '10 አሃዞች።',
    tradeLicenceNumber: 'ከ3 እስከ 50 ፊደላት፣ አሃዞች፣ ክፍተቶች ወይም / . -',
    expectedMonthlyVolume: 'ከ0 የሚበልጥ ቁጥር፣ ለምሳሌ 250000።',
    website: 'ሙሉ አድራሻ፣ ለምሳሌ https://shop.example.et።',
    region: 'ድርጅቱ የተመዘገበበት።',
    address: 'ክፍለ ከተማ፣ ወረዳና የቤት ቁጥር፣ ቢበዛ 300 ፊደላት።',
    contactPerson: 'ሜስኮት ስለዚህ ማመልከቻ የሚጠይቀው ሰው፣ ቢበዛ 100 ፊደላት።',
    phone: 'የኢትዮጵያ ሞባይል ቁጥር፦ 09…፣ 07… ወይም +251…።',
    email: 'እንደ name@shop.example.et ያለ አድራሻ።',
    supportPhone: 'በክፍያ ገጹ ላይ ይታያል። የኢትዮጵያ ሞባይል ቁጥር፦ 09…፣ 07… ወይም +251…።',
  },
);

export const BUSINESS_TYPES: Record<BusinessType, string> = catalogue(
  {
    SOLE_PROPRIETOR: 'Sole proprietor',
    PARTNERSHIP: 'Partnership',
    PRIVATE_LIMITED_COMPANY: 'Private limited company',
    SHARE_COMPANY: 'Share company',
    COOPERATIVE: 'Cooperative',
    NON_PROFIT: 'Non-profit organisation',
    PUBLIC_ENTERPRISE: 'Public enterprise',
    OTHER: 'Other',
  },
  {
    SOLE_PROPRIETOR: 'የግል ነጋዴ',
    PARTNERSHIP: 'የሽርክና ማኅበር',
    PRIVATE_LIMITED_COMPANY: 'ኃላፊነቱ የተወሰነ የግል ማኅበር',
    SHARE_COMPANY: 'አክሲዮን ማኅበር',
    COOPERATIVE: 'የኅብረት ሥራ ማኅበር',
    NON_PROFIT: 'ለትርፍ ያልተቋቋመ ድርጅት',
    PUBLIC_ENTERPRISE: 'የመንግሥት የልማት ድርጅት',
    OTHER: 'ሌላ',
  },
);

export const REGIONS: Record<Region, string> = catalogue(
  {
    ADDIS_ABABA: 'Addis Ababa',
    AFAR: 'Afar',
    AMHARA: 'Amhara',
    BENISHANGUL_GUMUZ: 'Benishangul-Gumuz',
    CENTRAL_ETHIOPIA: 'Central Ethiopia',
    DIRE_DAWA: 'Dire Dawa',
    GAMBELLA: 'Gambella',
    HARARI: 'Harari',
    OROMIA: 'Oromia',
    SIDAMA: 'Sidama',
    SOMALI: 'Somali',
    SOUTH_ETHIOPIA: 'South Ethiopia',
    SOUTH_WEST_ETHIOPIA: 'South West Ethiopia',
    TIGRAY: 'Tigray',
  },
  {
    ADDIS_ABABA: 'አዲስ አበባ',
    AFAR: 'አፋር',
    AMHARA: 'አማራ',
    BENISHANGUL_GUMUZ: 'ቤንሻንጉል ጉሙዝ',
    CENTRAL_ETHIOPIA: 'ማዕከላዊ ኢትዮጵያ',
    DIRE_DAWA: 'ድሬዳዋ',
    GAMBELLA: 'ጋምቤላ',
    HARARI: 'ሐረሪ',
    OROMIA: 'ኦሮሚያ',
    SIDAMA: 'ሲዳማ',
    SOMALI: 'ሶማሌ',
    SOUTH_ETHIOPIA: 'ደቡብ ኢትዮጵያ',
    SOUTH_WEST_ETHIOPIA: 'ደቡብ ምዕራብ ኢትዮጵያ',
    TIGRAY: 'ትግራይ',
  },
);

export const DOCUMENT_LABELS: Record<DocumentKind, string> = catalogue(
  {
    TRADE_LICENCE: 'Trade licence',
    TIN_CERTIFICATE: 'TIN certificate',
    OWNER_ID: 'Identity card of the owner',
    BANK_LETTER: 'Letter of the bank',
    LOGO: 'Logo for the checkout page',
    OTHER: 'Other document',
  },
  {
    TRADE_LICENCE: 'የንግድ ፈቃድ',
    TIN_CERTIFICATE: 'የግብር ከፋይ ምስክር ወረቀት',
    OWNER_ID: 'የባለቤቱ መታወቂያ',
    BANK_LETTER: 'የባንክ ደብዳቤ',
    LOGO: 'ለክፍያ ገጹ የሚሆን አርማ',
    OTHER: 'ሌላ ሰነድ',
  },
);
