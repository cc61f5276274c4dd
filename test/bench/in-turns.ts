import type { Bench, Server } from './fixture.ts';
import { createLoad, type Request } from './load.ts';
import { measureCpu, type Cpu } from './measure.ts';
import { median } from './numbers.ts';
import type { Row } from './sheet.ts';

const CONNECTIONS = 8;

/** One kind of request to one server. */
export type Side = { who: string; server: Server; status: number; request: (number: number) => Request };

/** The median processor time of a request: of the process, and of PostgreSQL. */
export type Cost = { total: number; process: number; postgres: number };

/** Sends the requests of each side in turns, so that the machine's other load affects all alike. */
export async function costsInTurns<const Sides extends readonly Side[]>(
  bench: Bench,
  sides: Sides,
  requests: number,
): Promise<{ [Index in keyof Sides]: Cost }> {
  const rounds = sides.map((): Cpu[] => []);
  const loads = sides.map(({ server, request, status }) =>
    createLoad({ origin: server.origin, request, status }, CONNECTIONS),
  );
  for (const load of loads) await load.burst(requests);
  for (let round = 0; round < bench.size(5, 2); round += 1) {
    for (const [index, { server }] of sides.entries()) {
      const work = async () => loads[index]?.burst(requests);
      rounds[index]?.push(await measureCpu(bench.stack, { gateway: { server }, items: requests, work }));
    }
  }
  await Promise.all(loads.map((load) => load.close()));
  return rounds.map((costs): Cost => {
    const [process, postgres] = [median(costs.map((one) => one.ours)), median(costs.map((one) => one.postgres))];
    return { total: process + postgres, process, postgres };
  }) as { [Index in keyof Sides]: Cost };
}

export function costRow({ who }: Side, { total, process, postgres }: Cost): Row {
  return { who, 'CPU ms each': total, process, PostgreSQL: postgres };
}
