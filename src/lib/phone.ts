import { ruleOf } from './issues.ts';

const PHONE_CHARACTERS_MAX = 30;

/** The rule of {@link normalisePhone} for a field of a request. */
export const PHONE_RULE = {
  error: 'must be an Ethiopian mobile number, such as 0911000001 or +251911000001',
  params: ruleOf('not_a_phone'),
};

/**
 * An Ethiopian mobile number as providers require it, 2519… or 2517… without plus; null for anything else.
 * Accepts 09…, 9…, 2519…, +2519… and the same with 7, with spaces or hyphens.
 */
export function normalisePhone(text: string): string | null {
  if (text.length > PHONE_CHARACTERS_MAX) return null;
  const match = /^(?:\+?251|0)?([79]\d{8})$/.exec(withoutGaps(text));
  return match ? `251${match[1]}` : null;
}

/** A customer's phone as it is stored: digits from the country code on, which a foreign number must include. */
export function storedPhone(text: string): string {
  return normalisePhone(text) ?? withoutGaps(text).replace(/^\+/, '');
}

/** A search among stored phones: a whole number, or a part of one; null for a text that is neither. */
export type PhoneSearch = { whole: string } | { part: string } | null;

/** Reads the text of a search, in any form of a phone number. */
export function readPhoneSearch(text: string): PhoneSearch {
  const whole = normalisePhone(text);
  if (whole !== null) return { whole };
  if (text.length > PHONE_CHARACTERS_MAX) return null;
  const digits = withoutGaps(text).replace(/^\+/, '');
  if (!/^\d{1,15}$/.test(digits)) return null;
  return { part: digits.replace(/^0(?=[79]|$)/, '251') };
}

function withoutGaps(text: string): string {
  return text.replace(/[\s-]/g, '');
}
