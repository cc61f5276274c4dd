import { until } from '../support/until.ts';
import type { Installation } from './installation.ts';
import type { Shop } from './shop.ts';
import { startTraffic } from './traffic.ts';

const DELIVERED_WITHIN_MS = 120_000;
export const PAID = 'payment.succeeded';

export const PER_SECOND = 5;

/** Purchases go on while the work is done; then nothing is lost: no request, no payment, no event, no santim. */
export async function underTraffic(
  { installation, shop }: { installation: Installation; shop: Shop },
  work: () => Promise<unknown>,
): Promise<void> {
  const count = (...statuses: string[]): Promise<number> =>
    Promise.all(statuses.map((status) => shop.eventsThatAre(status, PAID))).then((all) =>
      all.reduce((a, b) => a + b, 0),
    );
  const before = await count('PENDING', 'RETRYING', 'DELIVERED');
  const traffic = startTraffic(installation, { key: shop.key, perSecond: PER_SECOND });
  await work().finally(() => traffic.stop());
  const { purchases, lost, repeats } = await traffic.stop();
  console.info(`${purchases.length} purchases, ${repeats} requests repeated, ${lost.length} lost`);
  expect(lost).toEqual([]);
  await shop.allPaid(purchases);
  const waiting = async (): Promise<number> =>
    (await shop.eventsThatAre('PENDING')) + (await shop.eventsThatAre('RETRYING'));
  await until('all events to be delivered', async () => (await waiting()) === 0, DELIVERED_WITHIN_MS);
  await expect(count('DELIVERED')).resolves.toBe(before + purchases.length);
  await expect(installation.meskot(['ledger', 'verify'])).resolves.not.toContain('BROKEN');
}
