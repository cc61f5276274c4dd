import { randomUUID } from 'node:crypto';

import { inFixture, type Bench } from '../fixture.ts';
import { pastTransactions } from '../history.ts';
import { costRow, costsInTurns, type Side } from '../in-turns.ts';
import { headersOf } from '../subjects.ts';

/** Creating a session, with and without an Idempotency-Key, compared with a bare INSERT behind node:http. */
export async function sessions(bench: Bench): Promise<void> {
  await inFixture(bench, async (fixture) => {
    const { merchantId, key } = await fixture.newMerchant();
    await fixture.asOwner(pastTransactions(merchantId), 'VACUUM ANALYZE');
    const [api, baseline] = [await fixture.startApi(), await fixture.startBaseline()];
    const body = (): string => JSON.stringify({ checkoutOrderNo: randomUUID(), amount: 100.5, currency: 'ETB' });
    const post = (path: string, headers: () => Record<string, string>) => ({
      status: 201,
      request: () => ({ method: 'POST' as const, path, headers: headers(), body: body() }),
    });
    const path = '/api/checkout/sessions';
    const own = headersOf(key);
    const sides = [
      { who: 'Meskot', server: api, ...post(path, () => own) },
      {
        who: 'with Idempotency-Key',
        server: api,
        ...post(path, () => ({ ...own, 'idempotency-key': randomUUID() })),
      },
      { who: 'bare INSERT', server: baseline, ...post('/sessions', () => ({ 'content-type': 'application/json' })) },
    ] as const satisfies Side[];
    const costs = await costsInTurns(bench, sides, bench.size(1_000, 200));
    const row = bench.sheet.table('Create a session');
    sides.forEach((side, index) => row(costRow(side, costs[index]!)));
    const [ours, withKey, bare] = costs;
    bench.sheet.measured('session', ours.total / bare.total);
    bench.sheet.measured('sessionWithKey', withKey.total / bare.total);
  });
}
