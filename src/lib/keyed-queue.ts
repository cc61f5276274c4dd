import { AppError, serviceUnavailable } from './errors.ts';

export type KeyedQueueOptions = {
  /** Concurrency over all keys; one key never runs twice at once. */
  runningMax: number;
  /** Queue limits: per key, and over all keys. */
  pendingMax: { ofOne: number; ofAll: number };
  /** Work that has waited longer is rejected. */
  waitMsMax: number;
  /** A monotonic clock. */
  nowMs?: () => number;
};

export type KeyedQueue = {
  /**
   * Runs the work in its turn, unless its caller has left by then. Throws RATE_LIMITED when the key's queue is full or its
   * caller has left; SERVICE_UNAVAILABLE when the whole queue is full or the work has waited too long.
   */
  run: <T>(key: string, work: () => Promise<T>, gone: AbortSignal) => Promise<T>;
};

type Turn = { sinceMs: number; begin: () => void; reject: (error: AppError) => void };

/**
 * Serializes work per key, and lets keys take turns: a key's backlog delays that key only. In memory, per process.
 */
export function createKeyedQueue(options: KeyedQueueOptions): KeyedQueue {
  const { runningMax, pendingMax, waitMsMax, nowMs = () => performance.now() } = options;
  /** Waiting work by key, in order; empty while the last of a key runs. */
  const lines = new Map<string, Turn[]>();
  /** Keys with waiting work and none running, in the order of their turns. */
  const ready = new Set<string>();
  let running = 0;
  let pending = 0;

  const nextOf = (key: string): Turn | undefined => {
    const line = lines.get(key) ?? [];
    for (let turn = line.shift(); turn; turn = line.shift()) {
      pending -= 1;
      if (nowMs() - turn.sinceMs <= waitMsMax) return turn;
      turn.reject(serviceUnavailable());
    }
    return undefined;
  };
  const beginReady = (): void => {
    for (const key of ready) {
      if (running === runningMax) return;
      ready.delete(key);
      const turn = nextOf(key);
      if (turn) running += 1;
      else lines.delete(key);
      turn?.begin();
    }
  };
  const untilTurn = async (key: string, gone: AbortSignal): Promise<void> => {
    if (gone.aborted) throw left();
    const line = lines.get(key) ?? [];
    if (line.length >= pendingMax.ofOne) throw tooMany(line.length);
    if (pending >= pendingMax.ofAll) throw serviceUnavailable();
    const begun = new Promise<void>((begin, reject) => {
      const turn: Turn = { sinceMs: nowMs(), begin, reject };
      line.push(turn);
      const leave = (): void => {
        const place = line.indexOf(turn);
        if (place === -1) return;
        line.splice(place, 1);
        pending -= 1;
        reject(left());
      };
      gone.addEventListener('abort', leave, { once: true });
    });
    pending += 1;
    if (!lines.has(key)) ready.add(key);
    lines.set(key, line);
    beginReady();
    return begun;
  };
  const end = (key: string): void => {
    running -= 1;
    // Behind the other keys.
    if (lines.get(key)?.length) ready.add(key);
    else lines.delete(key);
    beginReady();
  };
  return {
    run: async (key, work, gone) => {
      await untilTurn(key, gone);
      try {
        return await work();
      } finally {
        end(key);
      }
    },
  };
}

/** The connection is closed: this error is not sent. */
const left = (): AppError => new AppError('RATE_LIMITED', 'The caller has left before its turn.');

/** A second is longer than most work takes. */
function tooMany(pending: number): AppError {
  const message = `${pending} of your requests are queued already. Repeat this one in 1 s.`;
  return new AppError('RATE_LIMITED', message, { headers: { 'Retry-After': '1' } });
}
