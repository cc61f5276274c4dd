/** Banks of payouts and settlements, by the code that the API uses. */
export const BANKS = {
  ABAY: 'Abay Bank',
  ABYSSINIA: 'Bank of Abyssinia',
  AMHARA: 'Amhara Bank',
  AWASH: 'Awash Bank',
  BERHAN: 'Berhan Bank',
  BUNNA: 'Bunna Bank',
  CBE: 'Commercial Bank of Ethiopia',
  CBO: 'Cooperative Bank of Oromia',
  DASHEN: 'Dashen Bank',
  HIBRET: 'Hibret Bank',
  LION: 'Lion International Bank',
  NIB: 'Nib International Bank',
  OROMIA: 'Oromia Bank',
  WEGAGEN: 'Wegagen Bank',
  ZEMEN: 'Zemen Bank',
} as const;

export type BankCode = keyof typeof BANKS;
export const BANK_CODES = Object.keys(BANKS) as [BankCode, ...BankCode[]];

/** Digits only, as all Ethiopian banks write account numbers. */
export const ACCOUNT_NUMBER = /^\d{8,20}$/;
/** What an error says about another text. */
export const ACCOUNT_NUMBER_RULE = { error: 'must be 8 to 20 digits', code: 'not_an_account_number' } as const;
