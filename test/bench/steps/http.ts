import { inFixture, type Bench } from '../fixture.ts';
import { costRow, costsInTurns, type Side } from '../in-turns.ts';

const JSON_BODY = { 'content-type': 'application/json' };
/** A session without its order number. */
const REFUSED = JSON.stringify({ amount: 100.5, currency: 'ETB' });

/**
 * The cost of the HTTP stack without the database: without a key, and from the key to the rejection of a body. The
 * baseline is node:http with requests and responses of the same size.
 */
export async function http(bench: Bench): Promise<void> {
  await inFixture(bench, async (fixture) => {
    const { key } = await fixture.newMerchant();
    const [api, baseline] = [await fixture.startApi(), await fixture.startBaseline()];
    const get = () => ({ method: 'GET' as const, path: '/livez', headers: {} });
    const post = (path: string, headers: Record<string, string>) => () => ({
      method: 'POST' as const,
      path,
      headers,
      body: REFUSED,
    });
    const sides = [
      { who: '/livez', server: api, status: 200, request: get },
      { who: 'bare node:http', server: baseline, status: 200, request: get },
      {
        who: 'a body refused',
        server: api,
        status: 400,
        request: post('/api/checkout/sessions', { ...JSON_BODY, 'x-api-key': key }),
      },
      { who: 'bare node:http', server: baseline, status: 400, request: post('/refusals', JSON_BODY) },
    ] as const satisfies Side[];
    const costs = await costsInTurns(bench, sides, bench.size(2_000, 500));
    const row = bench.sheet.table('Requests without the database');
    sides.forEach((side, index) => row(costRow(side, costs[index]!)));
    const [livez, bareLivez, refused, bareRefused] = costs;
    bench.sheet.measured('livez', livez.process / bareLivez.process);
    bench.sheet.measured('httpStack', refused.process / bareRefused.process);
  });
}
