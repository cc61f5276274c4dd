import type { ApplicationDetails, DocumentKind } from '../../../src/merchants/kyc/schema.ts';
import { text, type FieldName } from '../../ui/kyc-text.ts';

export type Field = { name: FieldName; type?: string; isOptional?: true };

/** The parts of the form with their fields. */
export const PARTS: readonly { title: string; fields: readonly Field[] }[] = [
  {
    title: text.business,
    fields: [
      { name: 'legalName' },
      { name: 'tradeName' },
      { name: 'businessType' },
      { name: 'tin' },
      { name: 'tradeLicenceNumber' },
      { name: 'expectedMonthlyVolume' },
      { name: 'website', type: 'url', isOptional: true },
    ],
  },
  {
    title: text.place,
    fields: [
      { name: 'region' },
      { name: 'address' },
      { name: 'contactPerson' },
      { name: 'phone', type: 'tel' },
      { name: 'email', type: 'email' },
      { name: 'supportPhone', type: 'tel', isOptional: true },
    ],
  },
];

export const FIELD_NAMES = PARTS.flatMap(({ fields }) => fields.map(({ name }) => name));

/** The kinds of documents; the first ones are needed. */
export const NEEDED_DOCUMENTS: readonly DocumentKind[] = ['TRADE_LICENCE', 'TIN_CERTIFICATE', 'OWNER_ID'];
export const OTHER_DOCUMENTS: readonly DocumentKind[] = ['BANK_LETTER', 'LOGO', 'OTHER'];

/** What has been typed, by field; '' for nothing. */
export type Values = Readonly<Record<FieldName, string>>;

/** A stored application as it stands in the form. */
export const valuesOf = (details: ApplicationDetails): Values =>
  Object.fromEntries(FIELD_NAMES.map((name) => [name, String(details[name] ?? '')])) as Values;

/** The form as the API takes it: without empty fields. An amount that is no number is left to the API to reject. */
export function applicationOf(values: Values): Record<string, string | number> {
  const given = FIELD_NAMES.map((name) => [name, values[name].trim()] as const).filter(([, value]) => value !== '');
  return Object.fromEntries(
    given.map(([name, value]) => {
      const amount = Number(value.replaceAll(',', ''));
      return [name, name === 'expectedMonthlyVolume' && !Number.isNaN(amount) ? amount : value];
    }),
  );
}

/** The needed fields and kinds of documents that are missing, and how many there are in all. */
export function missingOf(values: Values, documents: readonly { kind: DocumentKind }[]) {
  const needed = PARTS.flatMap(({ fields }) => fields).filter(({ isOptional }) => !isOptional);
  return {
    fields: needed.map(({ name }) => name).filter((name) => values[name].trim() === ''),
    documents: NEEDED_DOCUMENTS.filter((kind) => !documents.some((document) => document.kind === kind)),
    needed: needed.length + NEEDED_DOCUMENTS.length,
  };
}
