import { z } from 'zod';

import { BIRR_RULE, isBirr } from './money.ts';

/** An instant in an answer: ISO 8601. */
export const instant = z.string().meta({ format: 'date-time' });

/**
 * The pattern of one-line text in the API description. Patterns there are read by JavaScript without `u`, Python and
 * PCRE: no `\p{…}`, no code points above 7F. The control characters of 80–9F are refused as well, by the check itself.
 */
const ONE_LINE = String.raw`^[^\x00-\x1f\x7f]*$`;

/** Text on one line: what a page, a log or a table would show as something else is refused. */
export const plainText = (charactersMax: number) =>
  z
    .string()
    .max(charactersMax)
    .refine((text) => !/\p{Cc}/u.test(text), 'must not contain control characters, such as line breaks and tabs')
    .meta({ pattern: ONE_LINE });

/** A merchant's own reference of something. */
export const reference = z.string().regex(/^[A-Za-z0-9_.-]{1,64}$/, 'must be 1 to 64 letters, digits or - _ .');

/** Birr as a JSON number: above 0, at most two decimals. */
export const birrAmount = z.number().refine(isBirr, { error: BIRR_RULE }).meta({ description: 'ETB', example: 250.5 });
