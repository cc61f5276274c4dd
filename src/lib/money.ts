/** Money inside is whole santim (1 ETB = 100 santim) as bigint; JSON numbers of birr exist in requests and responses only. */
export type Santim = bigint;

/** The largest amount that a JSON number holds exactly with two decimals: 90 trillion birr. */
const BIRR_MAX = 90_000_000_000_000;

/** Whether a JSON number is an exact amount of birr: finite, greater than 0, at most two decimals. */
export function isBirr(birr: number): boolean {
  return Number.isFinite(birr) && birr > 0 && birr <= BIRR_MAX && Math.round(birr * 100) / 100 === birr;
}

/** The rule of {@link isBirr}, as a text that follows a field's name. */
export const BIRR_RULE = `must be more than 0 and at most ${BIRR_MAX}, with at most two decimals`;

/** Birr of a request, validated by {@link isBirr}, as santim. */
export function toSantim(birr: number): Santim {
  return BigInt(Math.round(birr * 100));
}

/** Santim as the JSON number of birr in responses: 10050n → 100.5. */
export function toBirr(santim: Santim): number {
  return Number(santim) / 100;
}

/** Santim as providers write it: 10050n → "100.50". */
export function formatBirr(santim: Santim): string {
  const digits = santim.toString().padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** The reverse of {@link formatBirr}; null when the text is not a plain decimal with at most two decimals. */
export function parseBirr(text: string): Santim | null {
  const match = /^(\d{1,15})(?:\.(\d{1,2}))?$/.exec(text);
  if (!match) return null;
  return BigInt(match[1]!) * 100n + BigInt((match[2] ?? '').padEnd(2, '0'));
}
