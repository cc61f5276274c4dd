import { DAY_MS } from '../../../src/lib/dates.ts';
import { inFixture, type Bench } from '../fixture.ts';
import { pastTransactions, TRANSACTIONS } from '../history.ts';
import { costRow, costsInTurns, type Side } from '../in-turns.ts';

/** The list of 50 with its exact total, compared with the baseline. */
export async function lists(bench: Bench): Promise<void> {
  await inFixture(bench, async (fixture) => {
    const { merchantId, key } = await fixture.newMerchant();
    await fixture.asOwner(pastTransactions(merchantId), 'VACUUM ANALYZE');
    const day = (agoMs: number): string => new Date(Date.now() - agoMs).toISOString().slice(0, 10);
    const query = `startDate=${day(30 * DAY_MS)}&endDate=${day(0)}&currency=ETB&status=ALL&limit=50&page=1`;
    const get = (path: string, headers: Record<string, string>) => () => ({ method: 'GET' as const, path, headers });
    const path = '/api/checkout/txns/get_all_txns';
    const ours: Side = {
      who: 'Meskot',
      server: await fixture.startApi(),
      status: 200,
      request: get(`${path}?${query}`, { 'x-api-key': key }),
    };
    const bare: Side = {
      who: 'bare baseline',
      server: await fixture.startBaseline(),
      status: 200,
      request: get(`/list?${query}&merchantId=${merchantId}`, {}),
    };
    const [cost, baselines] = await costsInTurns(bench, [ours, bare], bench.size(400, 100));
    const row = bench.sheet.table(`List of 50 transactions with the exact total of ${TRANSACTIONS}`);
    row(costRow(ours, cost));
    row(costRow(bare, baselines));
    bench.sheet.measured('list', cost.total / baselines.total);
  });
}
