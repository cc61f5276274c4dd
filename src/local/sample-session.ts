import type { Config } from '../config.ts';
import type { Facts } from './state.ts';

/** A session that waits to be paid, made through the API, the way merchants do. */
export async function openCheckout(config: Config, { sandboxKey }: Facts): Promise<Facts> {
  if (!sandboxKey) return {};
  const response = await fetch(`${config.PUBLIC_BASE_URL}/api/checkout/sessions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': sandboxKey },
    body: JSON.stringify({
      checkoutOrderNo: `WELCOME-${Date.now()}`,
      amount: 100.5,
      currency: 'ETB',
      expiresInMinutes: 1_440,
    }),
  });
  const { data } = (await response.json()) as { data: { checkoutUrl: string } | null };
  return data ? { checkoutUrl: data.checkoutUrl } : {};
}
