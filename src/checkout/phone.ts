/**
 * An Ethiopian mobile number as providers want it, 2519… or 2517… without plus; null for anything else.
 * Taken: 09…, 9…, 2519…, +2519… and the same with 7, with spaces or hyphens between.
 */
export function normalisePhone(text: string): string | null {
  const digits = text.replace(/[\s-]/g, '');
  const match = /^(?:\+?251|0)?([79]\d{8})$/.exec(digits);
  return match ? `251${match[1]}` : null;
}
