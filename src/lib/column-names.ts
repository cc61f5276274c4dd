/** A column's name in SQL. */
export const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const camelCaseNames = new Map<string, string>();

/** A column's name in TypeScript. */
export function camelCase(column: string): string {
  const known = camelCaseNames.get(column);
  if (known !== undefined) return known;
  const name = column.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  camelCaseNames.set(column, name);
  return name;
}
