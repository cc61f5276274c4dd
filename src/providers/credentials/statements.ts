import type { Provider } from '../provider.ts';

/** The statement of one account. `ordersOnly`: rows of other dealings are left out, since the account is a merchant's. */
export type StatementAccount = { name: string; ordersOnly?: boolean; statement: Provider['statement'] };

/** Our ids of payments and payouts. */
const OUR_ORDER = /^(?:pat|wd)_[0-9A-Z]+$/;

/**
 * The statements of several accounts as one, account by account in the order of their names. The cursor has the account's
 * name and its own cursor; when an account has gone, the next one continues.
 */
export function readAllStatements(list: () => Promise<StatementAccount[]>): Provider['statement'] {
  return async (day, cursor) => {
    const accounts = sortedOnce(await list());
    // Not an empty statement: then every order of the day would be missing from it.
    if (accounts.length === 0) return { kind: 'unknown', reason: 'network', message: 'no account is configured' };
    const [name = '', inner = ''] = (cursor ?? '').split('/').map(decodeURIComponent);
    const index = accounts.findIndex((one) => one.name >= name);
    const account = accounts[index];
    if (!account) return { kind: 'page', rows: [], next: null };
    const page = await account.statement(day, account.name === name && inner !== '' ? inner : null);
    if (page.kind === 'unknown') return { ...page, message: `account ${account.name}: ${page.message}` };
    const next = accounts[index + 1];
    return {
      ...page,
      rows: account.ordersOnly ? page.rows.filter(({ orderId }) => OUR_ORDER.test(orderId)) : page.rows,
      next: page.next !== null ? cursorOf(account.name, page.next) : next ? cursorOf(next.name, '') : null,
    };
  };
}

const cursorOf = (...parts: [name: string, inner: string]): string => parts.map(encodeURIComponent).join('/');

/** Each account once, the first of a name: the platform's before a merchant's. */
function sortedOnce(accounts: readonly StatementAccount[]): StatementAccount[] {
  const byName = new Map<string, StatementAccount>();
  for (const account of accounts) if (!byName.has(account.name)) byName.set(account.name, account);
  return [...byName.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
