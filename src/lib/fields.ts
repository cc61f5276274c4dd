import { z } from 'zod';

import { BIRR_RULE, isBirr } from './money.ts';

/** An instant in an answer: ISO 8601. */
export const instant = z.string().meta({ format: 'date-time' });

/** Text on one line: what a page, a log or a table would show as something else is refused. */
export const plainText = (charactersMax: number) =>
  z
    .string()
    .max(charactersMax)
    .regex(/^\P{Cc}*$/u, 'must not contain control characters, such as line breaks and tabs');

/** A merchant's own reference of something. */
export const reference = z.string().regex(/^[A-Za-z0-9_.-]{1,64}$/, 'must be 1 to 64 letters, digits or - _ .');

/** Birr as a JSON number: above 0, at most two decimals. */
export const birrAmount = z.number().refine(isBirr, { error: BIRR_RULE }).meta({ description: 'ETB', example: 250.5 });
