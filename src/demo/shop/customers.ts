import { SANDBOX_PHONES, type SandboxBehaviour } from '../../lib/sandbox-providers.ts';
import { MENU, type ShopApi, type StartCheckout } from './checkout.ts';

export const WALK_IN_PREFIX = 'WALKIN';

/** The behaviours of ten customers in a row: most pay, as in the demo data. */
// oxfmt-ignore
const BEHAVIOURS: readonly SandboxBehaviour[] = [
  'approve', 'approve', 'approve', 'decline', 'approve',
  'approve', 'approve-without-callback', 'approve', 'insufficient-funds', 'approve',
];
const CHANNELS = ['TELEBIRR', 'TELEBIRR', 'CBE_BIRR', 'TELEBIRR', 'AWASH', 'CBE_BIRR', 'TELEBIRR'] as const;

type CustomersOptions = { api: ShopApi; startCheckout: StartCheckout; everyMs: number };

/**
 * Simulates a customer every `everyMs`, so that there is always new data: each orders a drink and pays it from a sandbox phone through the
 * API, as a merchant's own page would. Failures are ignored; the next customer tries again.
 */
export function startCustomers({ api, startCheckout, everyMs }: CustomersOptions) {
  let count = 0;
  const buy = async (): Promise<void> => {
    const drink = MENU[count % MENU.length];
    const behaviour = BEHAVIOURS[count % BEHAVIOURS.length];
    const channel = CHANNELS[count % CHANNELS.length];
    const phone = SANDBOX_PHONES.find((one) => one.behaviour === behaviour)?.phone;
    count += 1;
    if (!drink || !phone) return;
    const started = await startCheckout(drink, WALK_IN_PREFIX);
    if ('problem' in started) return;
    const { sessionId, orderNo } = started;
    await api({ path: `sessions/${sessionId}/pay`, idempotencyKey: `${orderNo}-pay`, body: { channel, phone } });
  };
  const active = new Set<Promise<void>>();
  const timer = setInterval(() => {
    const customer = buy().finally(() => active.delete(customer));
    active.add(customer);
  }, everyMs);
  return {
    /** Starts no further customers and waits for the active ones. */
    stop: async (): Promise<void> => {
      clearInterval(timer);
      await Promise.all(active);
    },
  };
}
