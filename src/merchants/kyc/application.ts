export const BUSINESS_TYPES = [
  'SOLE_PROPRIETOR',
  'PARTNERSHIP',
  'PRIVATE_LIMITED_COMPANY',
  'SHARE_COMPANY',
  'COOPERATIVE',
  'NON_PROFIT',
  'PUBLIC_ENTERPRISE',
  'OTHER',
] as const;

/** Ethiopia's regions and chartered cities. */
export const REGIONS = [
  'ADDIS_ABABA',
  'AFAR',
  'AMHARA',
  'BENISHANGUL_GUMUZ',
  'CENTRAL_ETHIOPIA',
  'DIRE_DAWA',
  'GAMBELLA',
  'HARARI',
  'OROMIA',
  'SIDAMA',
  'SOMALI',
  'SOUTH_ETHIOPIA',
  'SOUTH_WEST_ETHIOPIA',
  'TIGRAY',
] as const;

type Filled = {
  legalName: string;
  tradeName: string;
  businessType: (typeof BUSINESS_TYPES)[number];
  /** Taxpayer identification number: 10 digits. */
  tin: string;
  tradeLicenceNumber: string;
  address: string;
  region: (typeof REGIONS)[number];
  contactPerson: string;
  /** 2519… or 2517… */
  phone: string;
  email: string;
  website: string;
  /** ETB. */
  expectedMonthlyVolume: number;
};

/** What a merchant says about its business. Until it is submitted, any of it may be missing. */
export type ApplicationDetails = { [Field in keyof Filled]?: Filled[Field] | undefined };

export const DOCUMENT_KINDS = ['TRADE_LICENCE', 'TIN_CERTIFICATE', 'OWNER_ID', 'BANK_LETTER', 'OTHER'] as const;
export type DocumentKind = (typeof DOCUMENT_KINDS)[number];

const NEEDED_FIELDS = [
  'legalName',
  'tradeName',
  'businessType',
  'tin',
  'tradeLicenceNumber',
  'address',
  'region',
  'contactPerson',
  'phone',
  'email',
  'expectedMonthlyVolume',
] as const satisfies (keyof ApplicationDetails)[];
const NEEDED_DOCUMENTS: readonly DocumentKind[] = ['TRADE_LICENCE', 'TIN_CERTIFICATE', 'OWNER_ID'];

/** What an application still lacks before it can be submitted: names of fields, and kinds as `documents.KIND`. */
export function missingFrom(details: ApplicationDetails, documents: readonly { kind: DocumentKind }[]): string[] {
  const kinds = new Set(documents.map(({ kind }) => kind));
  return [
    ...NEEDED_FIELDS.filter((field) => details[field] === undefined),
    ...NEEDED_DOCUMENTS.filter((kind) => !kinds.has(kind)).map((kind) => `documents.${kind}`),
  ];
}
