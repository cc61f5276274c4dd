import { SANDBOX_PHONES, type SandboxBehaviour } from '../../lib/sandbox-providers.ts';
import { MENU, type StartCheckout } from './checkout.ts';
import type { ShopApi } from './shop-api.ts';

/** The order numbers of those who come by themselves begin with it. */
export const WALK_IN_PREFIX = 'WALKIN';

/** What ten customers in a row do: most pay, as in the demo data. */
const BEHAVIOURS: readonly SandboxBehaviour[] = [
  'approve',
  'approve',
  'approve',
  'decline',
  'approve',
  'approve',
  'approve-without-callback',
  'approve',
  'insufficient-funds',
  'approve',
];
const CHANNELS = ['TELEBIRR', 'TELEBIRR', 'CBE_BIRR', 'TELEBIRR', 'AWASH', 'CBE_BIRR', 'TELEBIRR'] as const;

export type CustomersOptions = {
  api: ShopApi;
  startCheckout: StartCheckout;
  /** From one customer to the next. */
  everyMs: number;
};

/**
 * Customers who come by themselves, so that lists move: each orders something and pays from a sandbox phone, through the
 * API like a merchant's own page. One who fails is not mentioned: the next one tries again.
 */
export function startCustomers({ api, startCheckout, everyMs }: CustomersOptions) {
  let count = 0;
  const come = async (): Promise<void> => {
    const drink = MENU[count % MENU.length];
    const behaviour = BEHAVIOURS[count % BEHAVIOURS.length];
    const channel = CHANNELS[count % CHANNELS.length];
    const phone = SANDBOX_PHONES.find((one) => one.behaviour === behaviour)?.phone;
    count += 1;
    if (!drink || !phone) return;
    const started = await startCheckout(drink, { orderPrefix: WALK_IN_PREFIX });
    if ('problem' in started) return;
    const { sessionId, orderNo } = started;
    await api({ path: `sessions/${sessionId}/pay`, idempotencyKey: `${orderNo}-pay`, body: { channel, phone } });
  };
  const inTheShop = new Set<Promise<void>>();
  const timer = setInterval(() => {
    const customer = come().finally(() => inTheShop.delete(customer));
    inTheShop.add(customer);
  }, everyMs);
  return {
    /** Lets nobody in any more, and waits for those who are there. */
    stop: async (): Promise<void> => {
      clearInterval(timer);
      await Promise.all(inTheShop);
    },
  };
}
