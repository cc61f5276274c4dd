import { DAY_MS } from '../../src/lib/dates.ts';
import { TRANSACTIONS } from './history.ts';
import { createLoad, type Load } from './load.ts';
import { hundredths, middle } from './numbers.ts';
import type { World } from './world.ts';

const CONNECTIONS = 8;
const WARM_UP = 200;
const REQUESTS = 400;
const ROUNDS = 5;

/** Milliseconds of processor time for one request. */
type Cost = { cpuMs: number; process: number; postgres: number };
export type Lists = { rows: number; meskot: Cost; twin: Cost; ratio: number; processRatio: number };

/** The list of 50 with the exact total of all, beside the bare twin, in turns. */
export async function measureLists(world: World): Promise<Lists> {
  const day = (agoMs: number): string => new Date(Date.now() - agoMs).toISOString().slice(0, 10);
  const query = `startDate=${day(30 * DAY_MS)}&endDate=${day(0)}&currency=ETB&status=ALL&limit=50&page=1`;
  const common = { method: 'GET', status: 200 } as const;
  const { api, twin } = world;
  const path = () => `/api/checkout/txns/get_all_txns?${query}`;
  const sides = [
    {
      process: api,
      load: createLoad({ ...common, path, origin: api.origin, headers: { 'x-api-key': api.key } }, CONNECTIONS),
    },
    {
      process: twin,
      load: createLoad({ ...common, path: () => `/?${query}`, origin: twin.origin, headers: {} }, CONNECTIONS),
    },
  ] as const;
  const costs: [Cost[], Cost[]] = [[], []];
  const measure = async (process: World['twin'], load: Load): Promise<Cost> => {
    const cpu = await world.measure([process], () => load.burst(REQUESTS));
    const own = cpu.ours / REQUESTS;
    const postgres = cpu.postgres / REQUESTS;
    return { cpuMs: own + postgres, process: own, postgres };
  };
  for (const { load } of sides) await load.burst(WARM_UP);
  for (let round = 0; round < ROUNDS; round += 1) {
    costs[0].push(await measure(sides[0].process, sides[0].load));
    costs[1].push(await measure(sides[1].process, sides[1].load));
  }
  await Promise.all(sides.map(({ load }) => load.close()));
  const [meskot, bare] = costs.map((rounds) => middle(rounds, (cost) => cost.cpuMs)) as [Cost, Cost];
  return {
    rows: TRANSACTIONS,
    meskot,
    twin: bare,
    ratio: hundredths(meskot.cpuMs / bare.cpuMs),
    processRatio: hundredths(meskot.process / bare.process),
  };
}
