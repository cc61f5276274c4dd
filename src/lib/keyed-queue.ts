import { AppError } from './errors.ts';

export type KeyedQueueOptions = {
  /** How many run at once, of all keys together; of one key it is always one. */
  runningMax: number;
  /** How many may wait: of one key, and of all together. */
  waitingMax: { ofOne: number; ofAll: number };
  /** What has waited longer is not begun any more. */
  waitMsMax: number;
  /** A clock that only goes forward. */
  nowMs?: () => number;
};

export type KeyedQueue = {
  /**
   * Runs the work when it is its turn, unless its caller has gone by then. Throws RATE_LIMITED when too many of its key
   * wait, and when its caller has gone; SERVICE_UNAVAILABLE when too many of all wait, and when it has waited too long.
   */
  run: <T>(key: string, work: () => Promise<T>, gone: AbortSignal) => Promise<T>;
};

/**
 * Work of one key runs one after the other, and keys take turns: a key's backlog delays that key only. In memory: each
 * process has its own.
 */
export function createKeyedQueue(options: KeyedQueueOptions): KeyedQueue {
  const { runningMax, waitingMax, waitMsMax, nowMs = () => performance.now() } = options;
  /** What waits by key, in its order; empty while the last of a key runs. */
  const lines = new Map<string, (() => void)[]>();
  /** Keys of which work waits and none runs, in the order of their turns. */
  const ready = new Set<string>();
  let running = 0;
  let waiting = 0;

  const beginReady = (): void => {
    for (const key of ready) {
      if (running === runningMax) return;
      ready.delete(key);
      const begin = lines.get(key)?.shift();
      if (begin) {
        running += 1;
        waiting -= 1;
        begin();
      } else lines.delete(key);
    }
  };
  const untilTurn = async (key: string, gone: AbortSignal): Promise<void> => {
    if (gone.aborted) throw left();
    const line = lines.get(key) ?? [];
    if (line.length >= waitingMax.ofOne) throw tooMany(line.length);
    if (waiting >= waitingMax.ofAll) throw unavailable();
    const turn = new Promise<void>((begin, refuse) => {
      line.push(begin);
      const leave = (): void => {
        const place = line.indexOf(begin);
        if (place === -1) return;
        line.splice(place, 1);
        waiting -= 1;
        refuse(left());
      };
      gone.addEventListener('abort', leave, { once: true });
    });
    waiting += 1;
    if (!lines.has(key)) ready.add(key);
    lines.set(key, line);
    beginReady();
    return turn;
  };
  const end = (key: string): void => {
    running -= 1;
    // To the end of the row: others come first.
    if (lines.get(key)?.length) ready.add(key);
    else lines.delete(key);
    beginReady();
  };
  return {
    run: async (key, work, gone) => {
      const sinceMs = nowMs();
      await untilTurn(key, gone);
      try {
        if (nowMs() - sinceMs > waitMsMax) throw unavailable();
        return await work();
      } finally {
        end(key);
      }
    },
  };
}

/** A second is longer than most of it takes. */
const REPEAT = { headers: { 'Retry-After': '1' } };

function tooMany(waiting: number): AppError {
  const message = `${waiting} requests of yours are waiting for each other already. Repeat this one in 1 s.`;
  return new AppError('RATE_LIMITED', message, REPEAT);
}

/** The connection is closed: the error is not sent. */
function left(): AppError {
  return new AppError('RATE_LIMITED', 'The caller has gone before it was its turn.');
}

function unavailable(): AppError {
  const message = 'The service cannot answer right now. Repeat the request in a moment.';
  return new AppError('SERVICE_UNAVAILABLE', message, REPEAT);
}
