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

type Turn = { sinceMs: number; begin: () => void; refuse: (error: AppError) => void };

type State = Required<KeyedQueueOptions> & {
  /** What waits by key, in its order; empty while the last of a key runs. */
  lines: Map<string, Set<Turn>>;
  /** Keys of which work waits and none runs, in the order of their turns. */
  ready: Set<string>;
  running: number;
  waiting: number;
};

/**
 * Work of one key runs one after the other, and keys take turns: who has much to do waits for it, nobody else does. In
 * memory: each process has its own.
 */
export function createKeyedQueue(options: KeyedQueueOptions): KeyedQueue {
  const state: State = {
    nowMs: () => performance.now(),
    ...options,
    lines: new Map(),
    ready: new Set(),
    running: 0,
    waiting: 0,
  };
  return {
    run: async (key, work, gone) => {
      await untilTurn(state, key, gone);
      try {
        return await work();
      } finally {
        end(state, key);
      }
    },
  };
}

async function untilTurn(state: State, key: string, gone: AbortSignal): Promise<void> {
  if (gone.aborted) throw left();
  const line = state.lines.get(key) ?? new Set();
  if (line.size >= state.waitingMax.ofOne) throw tooMany(line.size);
  if (state.waiting >= state.waitingMax.ofAll) throw unavailable();
  let leave = (): void => {};
  const turn = new Promise<void>((begin, refuse) => {
    const one: Turn = { sinceMs: state.nowMs(), begin, refuse };
    leave = () => void (take(state, line, one) && refuse(left()));
    line.add(one);
  });
  gone.addEventListener('abort', leave);
  state.waiting += 1;
  if (!state.lines.has(key)) state.ready.add(key);
  state.lines.set(key, line);
  beginReady(state);
  return turn.finally(() => gone.removeEventListener('abort', leave));
}

/** Whether it still waited. */
function take(state: State, line: Set<Turn>, turn: Turn): boolean {
  if (!line.delete(turn)) return false;
  state.waiting -= 1;
  return true;
}

function beginReady(state: State): void {
  for (const key of state.ready) {
    if (state.running === state.runningMax) return;
    state.ready.delete(key);
    const turn = nextOf(state, key);
    if (turn) state.running += 1;
    else state.lines.delete(key);
    turn?.begin();
  }
}

function nextOf(state: State, key: string): Turn | undefined {
  const line = state.lines.get(key) ?? new Set();
  for (const turn of line) {
    take(state, line, turn);
    if (state.nowMs() - turn.sinceMs <= state.waitMsMax) return turn;
    turn.refuse(unavailable());
  }
  return undefined;
}

function end(state: State, key: string): void {
  state.running -= 1;
  // To the end of the row: others come first.
  if (state.lines.get(key)?.size) state.ready.add(key);
  else state.lines.delete(key);
  beginReady(state);
}

/** A second is longer than most of it takes. */
const REPEAT = { headers: { 'Retry-After': '1' } };

function tooMany(waiting: number): AppError {
  const message = `${waiting} requests of yours are waiting for each other already. Repeat this one in 1 s.`;
  return new AppError('RATE_LIMITED', message, REPEAT);
}

/** Nobody reads it. */
function left(): AppError {
  return new AppError('RATE_LIMITED', 'The caller has gone before it was its turn.');
}

function unavailable(): AppError {
  const message = 'The service cannot answer right now. Repeat the request in a moment.';
  return new AppError('SERVICE_UNAVAILABLE', message, REPEAT);
}
