import { costRow, costsInTurns, type Side } from '../in-turns.ts';
import { inWorld, type Bench } from '../world.ts';

const JSON_BODY = { 'content-type': 'application/json' };
/** A session without its order number. */
const REFUSED = JSON.stringify({ amount: 100.5, currency: 'ETB' });

/**
 * What the HTTP stack costs where no database is asked: without a key, and from the key to the refusal of a body. Beside
 * it, bare node:http that reads and writes as much.
 */
export async function http(bench: Bench): Promise<void> {
  await inWorld(bench, async (world) => {
    const { key } = await world.newMerchant();
    const [api, twin] = [await world.startApi(), await world.startTwin()];
    const get = () => ({ method: 'GET' as const, path: '/livez', headers: {} });
    const post = (path: string, headers: Record<string, string>) => () => ({
      method: 'POST' as const,
      path,
      headers,
      body: REFUSED,
    });
    const sides = [
      { who: '/livez', server: api, status: 200, request: get },
      { who: 'bare node:http', server: twin, status: 200, request: get },
      {
        who: 'a body refused',
        server: api,
        status: 400,
        request: post('/api/checkout/sessions', { ...JSON_BODY, 'x-api-key': key }),
      },
      { who: 'bare node:http', server: twin, status: 400, request: post('/refusals', JSON_BODY) },
    ] as const satisfies Side[];
    const costs = await costsInTurns(bench, sides, bench.size(2_000, 500));
    const row = bench.sheet.table('Requests that ask no database');
    sides.forEach((side, index) => row(costRow(side, costs[index]!)));
    const [livez, bareLivez, refused, bareRefused] = costs;
    bench.sheet.measured('livez', livez.process / bareLivez.process);
    bench.sheet.measured('httpStack', refused.process / bareRefused.process);
  });
}
