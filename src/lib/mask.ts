/** Masks a phone or account number but for its last four digits. */
export function maskDigits(digits: string): string {
  return `${'*'.repeat(Math.max(digits.length - 4, 0))}${digits.slice(-4)}`;
}

/** The same in SQL, of a column. */
export function maskedInSql(column: string): string {
  return `repeat('*', greatest(length(${column}) - 4, 0)) || right(${column}, 4)`;
}

/** Mobile numbers of Ethiopia, as 09…, 07… or 251…. */
const PHONE = /(?<!\d)(?:\+?251|0)[79]\d{8}(?!\d)/g;

/** Masks every phone number in a text but for its last four digits. */
export function maskPhones(text: string): string {
  return text.replaceAll(PHONE, maskDigits);
}
