/** A phone or an account's number as it is shown: its last four digits say enough to tell it by. */
export function maskDigits(digits: string): string {
  return `${'*'.repeat(Math.max(digits.length - 4, 0))}${digits.slice(-4)}`;
}

/** The same in SQL, of a column. */
export function maskedInSql(column: string): string {
  return `repeat('*', greatest(length(${column}) - 4, 0)) || right(${column}, 4)`;
}
