import { z } from 'zod';

import { publicText } from './echo.ts';
import { BIRR_RULE, isBirr } from './money.ts';

const EMAIL_CHARACTERS_MAX = 254;
const CURRENCY_CHARACTERS_MAX = 20;

/** An instant in a response: ISO 8601. Accepts a Date as well. */
export const instant = z.preprocess(
  (at) => (at instanceof Date ? at.toISOString() : at),
  z.string().meta({ format: 'date-time' }),
);

/** Text of a limited length. A longer one is rejected before any pattern or other rule is tried. */
export const limitedText = (charactersMax: number, error?: string) =>
  z.string().max(charactersMax, { abort: true, ...(error !== undefined && { error }) });

/**
 * The pattern of one-line text in the API description. Patterns there are read by JavaScript without `u`, Python and
 * PCRE: no `\p{…}`, no code points above 7F. The check itself also rejects the control characters of 80–9F.
 */
const ONE_LINE = String.raw`^[^\x00-\x1f\x7f]*$`;

/** Text on one line, without the control characters that would break a page, a log or a table. */
export const plainText = (charactersMax: number) =>
  limitedText(charactersMax)
    .refine((text) => !/\p{Cc}/u.test(text), 'must not contain control characters, such as line breaks and tabs')
    .meta({ pattern: ONE_LINE });

/** Text that matches a pattern, with one message for its length and its form. */
export const patternText = (charactersMax: number, pattern: RegExp, mustBe: string) =>
  limitedText(charactersMax, mustBe).regex(pattern, mustBe);

/** A merchant's own reference of something. */
export const reference = publicText(
  patternText(64, /^[A-Za-z0-9_.-]{1,64}$/, 'must be 1 to 64 letters, digits or - _ .'),
);

export const emailText = (charactersMax = EMAIL_CHARACTERS_MAX) =>
  limitedText(charactersMax).regex(z.regexes.email, 'must be an e-mail address').meta({ format: 'email' });

/** Birr as a JSON number: above 0, at most two decimals. */
export const birrAmount = z.number().refine(isBirr, { error: BIRR_RULE }).meta({ description: 'ETB', example: 250.5 });

/** The only supported currency; another is UNSUPPORTED_CURRENCY. */
export const currencyEtb = publicText(
  limitedText(CURRENCY_CHARACTERS_MAX)
    .refine((text): text is 'ETB' => text === 'ETB', {
      error: 'must be ETB',
      params: { code: 'UNSUPPORTED_CURRENCY' },
    })
    .meta({ example: 'ETB' }),
);

/** Whether the text is an http or https URL: safe as a link. */
export function isWebAddress(text: string): boolean {
  return URL.canParse(text) && ['http:', 'https:'].includes(new URL(text).protocol);
}
