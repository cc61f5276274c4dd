import { randomBytes } from 'node:crypto';

export type Drink = { id: string; name: string; birr: number };

export const MENU: readonly Drink[] = [
  { id: 'macchiato', name: 'Macchiato', birr: 60 },
  { id: 'buna', name: 'Buna from the jebena', birr: 45.5 },
  { id: 'beans', name: 'Yirgacheffe beans, 500 g', birr: 850 },
];

/** Asks Meskot for a session for one drink; tells where to send the customer, or what went wrong. */
export type StartCheckout = (drink: Drink) => Promise<{ orderNo: string; checkoutUrl: string } | { problem: string }>;

const API_TIMEOUT_MS = 5_000;

type CheckoutOptions = {
  apiUrl: string;
  apiKey: string;
  /** Where this shop is, for the customer's way back. */
  shopUrl: () => string;
};

/** The one API call a shop needs to be paid. Its key stays on this server; the customer's browser never sees it. */
export function createStartCheckout({ apiUrl, apiKey, shopUrl }: CheckoutOptions): StartCheckout {
  return async (drink) => {
    const orderNo = `SHOP-${randomBytes(4).toString('hex').toUpperCase()}`;
    const answer = await fetch(`${apiUrl}/api/checkout/sessions`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json', 'idempotency-key': orderNo },
      body: JSON.stringify({
        checkoutOrderNo: orderNo,
        amount: drink.birr,
        currency: 'ETB',
        successUrl: `${shopUrl()}/thanks`,
        errorUrl: `${shopUrl()}/sorry`,
        cancelUrl: `${shopUrl()}/cancelled`,
        metadata: { item: drink.name },
      }),
      signal: AbortSignal.timeout(API_TIMEOUT_MS),
    }).catch(() => null);
    if (answer === null) return { problem: `Meskot at ${apiUrl} does not answer.` };
    const body = (await answer.json().catch(() => null)) as {
      message?: string;
      data?: { checkoutUrl?: string };
    } | null;
    const checkoutUrl = body?.data?.checkoutUrl;
    if (!answer.ok || checkoutUrl === undefined) {
      return { problem: `Meskot answered ${answer.status}: ${body?.message ?? 'without a message'}` };
    }
    return { orderNo, checkoutUrl };
  };
}
