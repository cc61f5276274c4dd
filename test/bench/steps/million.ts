import { Pool } from 'undici';

import { DAY_MS } from '../../../src/lib/dates.ts';
import { inFixture, type Bench } from '../fixture.ts';
import { pastTransactions } from '../history.ts';
import { nowMs, percentile } from '../numbers.ts';

const TRANSACTIONS = 1_000_000;
const DAYS = 365;

/** The lists of a merchant with a million transactions in a year: the time of a page with its exact total. */
export async function million(bench: Bench): Promise<void> {
  await inFixture(bench, async (fixture) => {
    const { merchantId, key } = await fixture.newMerchant();
    const count = bench.size(TRANSACTIONS, 10_000);
    bench.say(`${count} transactions`);
    await fixture.asOwner(pastTransactions(merchantId, { count, days: DAYS }), 'VACUUM ANALYZE');
    const api = new Pool((await fixture.startApi()).origin, { connections: 1 });
    const row = bench.sheet.table(`A page of 50 of ${count} transactions in ${DAYS} days, one request at a time: ms`);
    const p95s: number[] = [];
    for (const [list, { days, ...filter }] of Object.entries(LISTS)) {
      bench.say(list);
      const query = new URLSearchParams({ startDate: day(days), endDate: day(0), limit: '50', ...ALL, ...filter });
      const times = await timesOf(
        async () => {
          const path = `/api/checkout/txns/get_all_txns?${query}`;
          const { statusCode, body } = await api.request({ method: 'GET', path, headers: { 'x-api-key': key } });
          if (statusCode !== 200) throw new Error(`${list}: ${statusCode} ${await body.text()}`);
          await body.dump();
        },
        bench.size(60, 5),
      );
      p95s.push(percentile(times, 0.95));
      row({ list, p50: percentile(times, 0.5), p95: percentile(times, 0.95), worst: Math.max(...times) });
    }
    await api.close();
    bench.sheet.measured('listOfMillion', Math.max(...p95s));
  });
}

const day = (ago: number): string => new Date(Date.now() - ago * DAY_MS).toISOString().slice(0, 10);

const ALL = { currency: 'ETB', status: 'ALL', page: '1' };
const LISTS: Record<string, { days: number } & Record<string, string | number>> = {
  'a week': { days: 7 },
  '30 days': { days: 30 },
  '30 days, the largest amounts first': { days: 30, sort: '-amount' },
  '30 days, failed': { days: 30, status: 'FAILED' },
  '30 days, one channel': { days: 30, transactionThrough: 'awashbirr' },
  '30 days, by order number': { days: 30, search: 'ORDER-4321' },
  '93 days': { days: 92 },
  '93 days, page 200': { days: 92, page: '200' },
};

/** The first request plans the statement, and is not counted. */
async function timesOf(work: () => Promise<void>, count: number): Promise<number[]> {
  const times: number[] = [];
  for (let number = 0; number <= count; number += 1) {
    const startMs = nowMs();
    await work();
    if (number > 0) times.push(nowMs() - startMs);
  }
  return times;
}
