/** The parameters of an address, which is the state of filters: plain, as the API has them. */
export type Search = Readonly<Record<string, string | undefined>>;

/** The rows of a page of a list, unless the address has another number. */
export const LIMIT_DEFAULT = 20;

/** A comma list of an address as a list. */
export const listOf = (value: string | undefined): string[] => (value === undefined ? [] : value.split(','));

export const parseSearch = (text: string): Search => Object.fromEntries(new URLSearchParams(text));

/** The query of an address, with its question mark; parameters without a value are left out. */
export function stringifySearch(search: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== '');
  const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return query === '' ? '' : `?${query}`;
}
