import { randomBytes } from 'node:crypto';

import { SANDBOX_PHONES, type SandboxBehaviour } from '../../lib/sandbox-providers.ts';

export const MENU = [
  { id: 'macchiato', name: 'Macchiato', birr: 60 },
  { id: 'buna', name: 'Buna from the jebena', birr: 45.5 },
  { id: 'beans', name: 'Yirgacheffe beans, 500 g', birr: 850 },
] as const;
export type Drink = (typeof MENU)[number];

export const WALK_IN_PREFIX = 'WALKIN';
const API_TIMEOUT_MS = 5_000;

/** The behaviours of ten customers in a row: most pay, as in the demo data. */
// oxfmt-ignore
const BEHAVIOURS: readonly SandboxBehaviour[] = [
  'approve', 'approve', 'approve', 'decline', 'approve',
  'approve', 'approve-without-callback', 'approve', 'insufficient-funds', 'approve',
];
const CHANNELS = ['TELEBIRR', 'TELEBIRR', 'CBE_BIRR', 'TELEBIRR', 'AWASH', 'CBE_BIRR', 'TELEBIRR'] as const;

/** `shopUrl` is the shop's own address, for the customer's return. */
type CheckoutOptions = { apiUrl: string; apiKey: string; shopUrl: () => string };

type StartOptions = { orderPrefix?: string; locale?: 'en' | 'am'; expiresInMinutes?: number };

export type Checkout = ReturnType<typeof createCheckout>;

/** The shop's calls of the API. Its key stays on this server. They throw the problem as a sentence for the customer. */
export function createCheckout({ apiUrl, apiKey, shopUrl }: CheckoutOptions) {
  type Data = { sessionId: string; checkoutUrl: string };
  const post = async (path: string, idempotencyKey: string, body: object): Promise<Data> => {
    const response = await fetch(`${apiUrl}/api/checkout/${path}`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json', 'idempotency-key': idempotencyKey },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(API_TIMEOUT_MS),
    }).catch(() => null);
    if (response === null) throw new Error(`Meskot at ${apiUrl} does not respond.`);
    type Body = { message?: string; data?: Data };
    const { data, message = 'no message' } = ((await response.json().catch(() => null)) ?? {}) as Body;
    if (!response.ok || !data) throw new Error(`Meskot responded ${response.status}: ${message}`);
    return data;
  };
  /** The one call that a shop needs to get paid: creates a session for one drink, with the page to send the customer to. */
  const start = async ({ name, birr }: Drink, { orderPrefix = 'SHOP', ...more }: StartOptions = {}) => {
    const orderNo = `${orderPrefix}-${randomBytes(4).toString('hex').toUpperCase()}`;
    const data = await post('sessions', orderNo, {
      checkoutOrderNo: orderNo,
      amount: birr,
      currency: 'ETB',
      successUrl: `${shopUrl()}/thanks`,
      errorUrl: `${shopUrl()}/sorry`,
      cancelUrl: `${shopUrl()}/cancelled`,
      metadata: { item: name },
      ...more,
    });
    return { ...data, orderNo };
  };
  /** A simulated customer, who orders a drink and pays it from a sandbox phone, as on a merchant's own page. */
  const walkIn = async (count: number): Promise<void> => {
    const [drink, behaviour] = [MENU[count % MENU.length], BEHAVIOURS[count % BEHAVIOURS.length]];
    const phone = SANDBOX_PHONES.find((one) => one.behaviour === behaviour)?.phone;
    if (!drink) return;
    const { sessionId, orderNo } = await start(drink, { orderPrefix: WALK_IN_PREFIX });
    await post(`sessions/${sessionId}/pay`, `${orderNo}-pay`, { channel: CHANNELS[count % CHANNELS.length], phone });
  };
  return { start, walkIn };
}
