import { z } from 'zod';

import { type BaseAddressRules, readBaseAddress } from './base-address.ts';
import { BLOCKED_PORTS } from './ports.ts';

// Types of settings, which are texts.

export const flag = z.enum(['true', 'false']).transform((value) => value === 'true');

const isWholeNumber = (text: string, min: number, max: number): boolean =>
  /^\d{1,15}$/.test(text) && Number(text) >= min && Number(text) <= max;

/** A whole number, both ends included. */
export function wholeNumber(min: number, max: number) {
  return z
    .string()
    .refine((text) => isWholeNumber(text, min, max), `must be a whole number from ${min} to ${max}`)
    .transform(Number);
}

/** The port of a server that browsers use. */
export function webPort(wanted: number) {
  return wholeNumber(1, 65_535)
    .refine((port) => !BLOCKED_PORTS.includes(port), 'must not be a port that browsers refuse; choose another')
    .default(wanted);
}

/** At most `most` numbers from 1 to `max`, separated by commas. */
export function wholeNumbers({ max, most }: { max: number; most: number }) {
  return z
    .string()
    .transform((text) => text.split(',').map((part) => part.trim()))
    .refine((parts) => parts.length <= most && parts.every((part) => isWholeNumber(part, 1, max)), {
      error: `must be 1 to ${most} whole numbers from 1 to ${max}, separated by commas`,
    })
    .transform((parts) => parts.map(Number));
}

/** A text without a default; `what` completes "must be set: …". */
export function required(what: string) {
  const error = `must be set: ${what}`;
  return z.string(error).min(1, error);
}

/** A base address as {@link readBaseAddress} allows it. */
export function baseAddress(rules?: BaseAddressRules) {
  return z.string().transform((text, ctx): string => {
    const read = readBaseAddress(text, rules);
    if ('address' in read) return read.address;
    ctx.addIssue(read.problem);
    return z.NEVER;
  });
}
