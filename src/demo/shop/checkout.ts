import { randomBytes } from 'node:crypto';

export type Drink = { id: string; name: string; birr: number };

export const MENU: readonly Drink[] = [
  { id: 'macchiato', name: 'Macchiato', birr: 60 },
  { id: 'buna', name: 'Buna from the jebena', birr: 45.5 },
  { id: 'beans', name: 'Yirgacheffe beans, 500 g', birr: 850 },
];

/** Creates a session for one drink. Returns the page to send the customer to, or the problem. */
export type StartCheckout = (
  drink: Drink,
  orderPrefix?: string,
) => Promise<{ orderNo: string; sessionId: string; checkoutUrl: string } | { problem: string }>;

/** The one API call that a shop needs to get paid. `shopUrl` is the shop's own address, for the customer's return. */
export function createStartCheckout({ api, shopUrl }: { api: ShopApi; shopUrl: () => string }): StartCheckout {
  return async (drink, orderPrefix = 'SHOP') => {
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
    return { problem: 'The response of Meskot has no checkout page.' };
  };
}

/** Calls Meskot's API with the shop's key. Returns the response's `data`, or the problem as a sentence. */
export type ShopApi = (call: {
  path: string;
  idempotencyKey: string;
  body: Record<string, unknown>;
}) => Promise<{ data: Record<string, unknown> } | { problem: string }>;

const API_TIMEOUT_MS = 5_000;

/** The shop's API client. Its key stays on this server and never reaches the customer's browser. */
export function createShopApi({ apiUrl, apiKey }: { apiUrl: string; apiKey: string }): ShopApi {
  return async ({ path, idempotencyKey, body }) => {
    const response = await fetch(`${apiUrl}/api/checkout/${path}`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json', 'idempotency-key': idempotencyKey },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(API_TIMEOUT_MS),
    }).catch(() => null);
    if (response === null) return { problem: `Meskot at ${apiUrl} does not respond.` };
    type Body = { message?: string; data?: Record<string, unknown> };
    const { data, message = 'no message' } = ((await response.json().catch(() => null)) ?? {}) as Body;
    return response.ok && data ? { data } : { problem: `Meskot responded ${response.status}: ${message}` };
  };
}
