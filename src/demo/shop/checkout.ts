import { randomBytes } from 'node:crypto';

import type { ShopApi } from './shop-api.ts';

export type Drink = { id: string; name: string; birr: number };

export const MENU: readonly Drink[] = [
  { id: 'macchiato', name: 'Macchiato', birr: 60 },
  { id: 'buna', name: 'Buna from the jebena', birr: 45.5 },
  { id: 'beans', name: 'Yirgacheffe beans, 500 g', birr: 850 },
];

export type StartedCheckout = { orderNo: string; sessionId: string; checkoutUrl: string };

/** Asks Meskot for a session for one drink; tells where to send the customer, or what went wrong. */
export type StartCheckout = (
  drink: Drink,
  order?: { orderPrefix: string },
) => Promise<StartedCheckout | { problem: string }>;

type CheckoutOptions = {
  api: ShopApi;
  /** Where this shop is, for the customer's way back. */
  shopUrl: () => string;
};

/** The one API call a shop needs to be paid. */
export function createStartCheckout({ api, shopUrl }: CheckoutOptions): StartCheckout {
  return async (drink, { orderPrefix } = { orderPrefix: 'SHOP' }) => {
    const orderNo = `${orderPrefix}-${randomBytes(4).toString('hex').toUpperCase()}`;
    const body = {
      checkoutOrderNo: orderNo,
      amount: drink.birr,
      currency: 'ETB',
      successUrl: `${shopUrl()}/thanks`,
      errorUrl: `${shopUrl()}/sorry`,
      cancelUrl: `${shopUrl()}/cancelled`,
      metadata: { item: drink.name },
    };
    const response = await api({ path: 'sessions', idempotencyKey: orderNo, body });
    if ('problem' in response) return response;
    const { sessionId, checkoutUrl } = response.data;
    if (typeof sessionId === 'string' && typeof checkoutUrl === 'string') return { orderNo, sessionId, checkoutUrl };
    return { problem: 'Meskot answered without an address to pay at.' };
  };
}
