import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Reads by id with one statement per interval, for all ids that were requested meanwhile: thousands of waiting requests
 * cost as many statements as one, and none of them holds a connection.
 */
export function createSharedRead<Value>(
  intervalMs: number,
  readAll: (ids: string[]) => Promise<ReadonlyMap<string, Value>>,
): (id: string) => Promise<Value | undefined> {
  const wanted = new Set<string>();
  let next: Promise<ReadonlyMap<string, Value>> | null = null;
  const readNext = async (): Promise<ReadonlyMap<string, Value>> => {
    await sleep(intervalMs);
    const ids = [...wanted];
    wanted.clear();
    next = null;
    return readAll(ids);
  };
  return async (id) => {
    wanted.add(id);
    return (await (next ??= readNext())).get(id);
  };
}
