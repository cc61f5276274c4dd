import { z } from 'zod';

import { ruleOf, type IssueCode } from './issues.ts';
import { BIRR_RULE, isBirr, toSantim } from './money.ts';

const EMAIL_CHARACTERS_MAX = 254;
const CURRENCY_CHARACTERS_MAX = 20;

const ECHO_CHARACTERS_MAX = 100;

/**
 * A wrong value as an error may repeat it. Texts are private unless declared otherwise, because error bodies end up in
 * merchants' logs: of those the length. Never the content of a list or object.
 */
export function presentValue(value: unknown, { isPublic }: { isPublic: boolean }): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'object') return 'an object';
  if (!isPublic) return typeof value === 'string' ? `a text of ${value.length} characters` : `a ${typeof value}`;
  // JSON cannot represent a number that is too large: 1e400.
  const text = typeof value === 'number' ? String(value) : JSON.stringify(value);
  return text.length <= ECHO_CHARACTERS_MAX ? text : `${text.slice(0, ECHO_CHARACTERS_MAX)}…`;
}

/** The error of a field whose wrong value may be repeated, such as a day or a reference. */
export const mustBe = (what: string) => (issue: { input?: unknown }) =>
  issue.input === undefined ? 'is required' : `must be ${what}, got ${presentValue(issue.input, { isPublic: true })}`;

type Message = string | ReturnType<typeof mustBe>;

/** An instant in a response: ISO 8601. Accepts a Date as well. */
export const instant = z.preprocess(
  (at) => (at instanceof Date ? at.toISOString() : at),
  z.string().meta({ format: 'date-time' }),
);

type WithoutNulls<Fields> = {
  [Name in keyof Fields]: NonNullable<Fields[Name]> | (null extends Fields[Name] ? undefined : never);
};

/** A resource without its fields that have no value, as responses and events have it. */
export function withoutNulls<Fields extends object>(fields: Fields): WithoutNulls<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as WithoutNulls<Fields>;
}

/** Text of a limited length. A longer one is rejected before any pattern or other rule is tried. */
export const limitedText = (charactersMax: number, error?: Message) =>
  z.string().max(charactersMax, { abort: true, ...(error !== undefined && { error }) });

/**
 * The pattern of one-line text in the API description. Patterns there are read by JavaScript without `u`, Python and
 * PCRE: no `\p{…}`, no code points above 7F. The check itself also rejects the control characters of 80–9F.
 */
const ONE_LINE = String.raw`^[^\x00-\x1f\x7f]*$`;

/** Text on one line, without the control characters that would break a page, a log or a table. */
export const plainText = (charactersMax: number) =>
  limitedText(charactersMax)
    .refine((text) => !/\p{Cc}/u.test(text), {
      error: 'must not contain control characters, such as line breaks and tabs',
      params: ruleOf('control_characters'),
    })
    .meta({ pattern: ONE_LINE });

type Rule = { error: Message; code: IssueCode };

/** Text that matches a pattern, with one message for its length and its form. */
export const patternText = (charactersMax: number, pattern: RegExp, rule: Message | Rule) => {
  const { error, code = 'wrong_format' } = typeof rule === 'object' ? rule : { error: rule };
  return limitedText(charactersMax, error)
    .refine((text) => pattern.test(text), { error, params: ruleOf(code) })
    .meta({ pattern: pattern.source });
};

export const reference = patternText(64, /^[A-Za-z0-9_.-]{1,64}$/, {
  error: mustBe('1 to 64 letters, digits or - _ .'),
  code: 'not_a_reference',
});

export const emailText = (charactersMax = EMAIL_CHARACTERS_MAX) =>
  patternText(charactersMax, z.regexes.email, { error: 'must be an e-mail address', code: 'not_an_email' }).meta({
    format: 'email',
  });

/** Birr as a JSON number: above 0, at most two decimals. */
export const birrAmount = z
  .number()
  .refine(isBirr, { error: BIRR_RULE, params: ruleOf('not_an_amount') })
  .meta({ description: 'ETB', example: 250.5 });

const BIRR_CHARACTERS_MAX = 30;

/** Birr as a query parameter, read as santim. */
export const birrParam = limitedText(BIRR_CHARACTERS_MAX)
  .refine((text) => /^\d{1,14}(\.\d{1,2})?$/.test(text) && isBirr(Number(text)), {
    error: ({ input }) => `${BIRR_RULE}, got ${JSON.stringify(input)}`,
    params: ruleOf('not_an_amount'),
  })
  .transform((text) => toSantim(Number(text)))
  .meta({ override: { type: 'number', exclusiveMinimum: 0 } });

/** The only supported currency; another is UNSUPPORTED_CURRENCY. */
export const currencyEtb = limitedText(CURRENCY_CHARACTERS_MAX)
  .refine((text): text is 'ETB' => text === 'ETB', {
    error: mustBe('ETB'),
    params: { code: 'UNSUPPORTED_CURRENCY', ...ruleOf('not_an_option', { allowed: 'ETB' }) },
  })
  .meta({ example: 'ETB' });

/** Whether the text is an http or https URL without a user and a password: safe as a link. */
export function isWebAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return ['http:', 'https:'].includes(protocol) && username === '' && password === '';
}

/**
 * Removes the bounds of JavaScript's safe integers from a schema that is being written, as zod's and zod-openapi's
 * `override`: they describe no field, and tools show them as examples.
 */
export function withoutSafeIntegerBounds({ jsonSchema }: { jsonSchema: { minimum?: number; maximum?: number } }): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
}
