import { AppError, serviceUnavailable } from './errors.ts';

export type KeyedQueueOptions = {
  /** Concurrency over all keys; one key never runs twice at once. */
  runningMax: number;
  /** Queue limits: per key, and over all keys. */
  pendingMax: { ofOne: number; ofAll: number };
  /** Work that has waited this long is rejected. */
  waitMsMax: number;
};

export type KeyedQueue = ReturnType<typeof createKeyedQueue>;

/** Serializes work per key, and lets keys take turns: a key's backlog delays that key only. In memory, per process. */
export function createKeyedQueue({ runningMax, pendingMax, waitMsMax }: KeyedQueueOptions) {
  /** The starts of waiting work by key, in order. */
  const queues = new Map<string, (() => void)[]>();
  const running = new Set<string>();
  let pending = 0;

  const startReady = (): void => {
    for (const [key, [start]] of queues) {
      if (running.size === runningMax) return;
      if (!running.has(key)) start?.();
    }
  };
  const untilStart = async (key: string, gone: AbortSignal): Promise<void> => {
    if (gone.aborted) throw callerGone();
    const queue = queues.get(key) ?? [];
    if (queue.length >= pendingMax.ofOne) throw tooMany(queue.length);
    if (pending >= pendingMax.ofAll) throw serviceUnavailable();
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer);
        gone.removeEventListener('abort', hangUp);
        queue.splice(queue.indexOf(start), 1);
        if (queue.length === 0) queues.delete(key);
        pending -= 1;
      };
      const start = (): void => {
        leave();
        running.add(key);
        resolve();
      };
      const giveUp = (error: AppError): void => {
        leave();
        reject(error);
      };
      const hangUp = (): void => giveUp(callerGone());
      gone.addEventListener('abort', hangUp);
      const timer = setTimeout(() => giveUp(serviceUnavailable()), waitMsMax).unref();
      queue.push(start);
      queues.set(key, queue);
      pending += 1;
      startReady();
    });
  };
  const end = (key: string): void => {
    running.delete(key);
    const queue = queues.get(key);
    // Behind the other keys.
    queues.delete(key);
    if (queue) queues.set(key, queue);
    startReady();
  };
  return {
    /**
     * Runs the work in its turn, unless its caller has left by then. Throws RATE_LIMITED when the key's queue is full or its
     * caller has left; SERVICE_UNAVAILABLE when the whole queue is full or the work has waited too long.
     */
    run: async <T>(key: string, work: () => Promise<T>, gone: AbortSignal): Promise<T> => {
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
