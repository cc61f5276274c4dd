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

type Waiting = { sinceMs: number; start: () => void; reject: (error: AppError) => void };

/**
 * Serializes work per key, and lets keys take turns: a key's backlog delays that key only. In memory, per process.
 */
export function createKeyedQueue(options: KeyedQueueOptions): KeyedQueue {
  const { runningMax, pendingMax, waitMsMax, nowMs = () => performance.now() } = options;
  /** Waiting work by key, in order; empty while the last of a key runs. */
  const queues = new Map<string, Waiting[]>();
  /** Keys with waiting work and none running, in the order of their turns. */
  const ready = new Set<string>();
  let running = 0;
  let pending = 0;

  const nextOf = (key: string): Waiting | undefined => {
    const queue = queues.get(key) ?? [];
    for (let next = queue.shift(); next; next = queue.shift()) {
      pending -= 1;
      if (nowMs() - next.sinceMs <= waitMsMax) return next;
      next.reject(serviceUnavailable());
    }
    return undefined;
  };
  const startReady = (): void => {
    for (const key of ready) {
      if (running === runningMax) return;
      ready.delete(key);
      const next = nextOf(key);
      if (next) running += 1;
      else queues.delete(key);
      next?.start();
    }
  };
  const untilStart = async (key: string, gone: AbortSignal): Promise<void> => {
    if (gone.aborted) throw callerGone();
    const queue = queues.get(key) ?? [];
    if (queue.length >= pendingMax.ofOne) throw tooMany(queue.length);
    if (pending >= pendingMax.ofAll) throw serviceUnavailable();
    const started = new Promise<void>((start, reject) => {
      const waiting: Waiting = { sinceMs: nowMs(), start, reject };
      queue.push(waiting);
      const leave = (): void => {
        const index = queue.indexOf(waiting);
        if (index === -1) return;
        queue.splice(index, 1);
        pending -= 1;
        reject(callerGone());
      };
      gone.addEventListener('abort', leave, { once: true });
    });
    pending += 1;
    if (!queues.has(key)) ready.add(key);
    queues.set(key, queue);
    startReady();
    return started;
  };
  const end = (key: string): void => {
    running -= 1;
    // Behind the other keys.
    if (queues.get(key)?.length) ready.add(key);
    else queues.delete(key);
    startReady();
  };
  return {
    run: async (key, work, gone) => {
      await untilStart(key, gone);
      try {
        return await work();
      } finally {
        end(key);
      }
    },
  };
}

/** The connection is closed: this error is not sent. */
function callerGone(): AppError {
  return new AppError('RATE_LIMITED', 'The caller has closed the connection.');
}

/** A second is longer than most work takes. */
function tooMany(pending: number): AppError {
  const message = `${pending} of your requests are queued already. Repeat this one in 1 s.`;
  return new AppError('RATE_LIMITED', message, { headers: { 'Retry-After': '1' } });
}
