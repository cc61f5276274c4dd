import { createCall } from '../ui/call.ts';
import { base } from '../ui/environment.ts';
import { headers, nameMerchant } from './headers.ts';
import type { Routes } from './routes.ts';
import { firstRows } from './transactions/query.ts';

/** The screen that one begins with. */
export const HOME = '/transactions';

const call = createCall<Routes>(headers);

/** The signed-in person, who is read while the scripts of the screens are loaded. */
export const me = call('GET /api/portal/me', {});
// The pages show why one of these has failed, once they are there.
me.catch(() => {});

const isHome = location.search === '' && ['', '/', HOME].some((path) => location.pathname === base + path);

/** The first rows of a page that is opened at its beginning, which are read after the person; null: of another page. */
export const home = isHome ? readHome() : null;

function readHome() {
  const query = firstRows();
  const rows = me.then(({ data: { merchant } }) => {
    if (merchant === null) return null;
    nameMerchant(merchant.merchantId);
    return call('GET /api/checkout/txns/get_all_txns', { query });
  });
  rows.catch(() => {});
  return { queryKey: ['GET /api/checkout/txns/get_all_txns', { query }], queryFn: () => rows };
}
