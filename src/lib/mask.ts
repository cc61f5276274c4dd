/** Masks a phone or account number but for its last four digits. */
export function maskDigits(digits: string): string {
  return `${'*'.repeat(Math.max(digits.length - 4, 0))}${digits.slice(-4)}`;
}

/** The same in SQL, of a column. */
export function maskedInSql(column: string): string {
  return `repeat('*', greatest(length(${column}) - 4, 0)) || right(${column}, 4)`;
}
