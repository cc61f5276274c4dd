/** A phone or an account's number as it is shown: its last four digits say enough to tell it by. */
export function maskDigits(digits: string): string {
  return `${'*'.repeat(Math.max(digits.length - 4, 0))}${digits.slice(-4)}`;
}
