import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';

import { CallFailure } from '../../ui/call.ts';
import { noteOwnChange } from '../../ui/use-calls.ts';

const TRIES_MAX = 8;
const PAUSE_MS = 1_000;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Sends one item under this key. A lost answer and a full queue are tried again. Throws CallFailure. */
type Send<Item> = (item: Item, idempotencyKey: string) => Promise<unknown>;

async function sendUntilKnown<Item>(send: Send<Item>, item: Item): Promise<void> {
  const idempotencyKey = crypto.randomUUID();
  for (let tries = 1; ; tries += 1) {
    try {
      await send(item, idempotencyKey);
      return;
    } catch (error) {
      const isPassing = error instanceof CallFailure && error.isTransient && tries < TRIES_MAX;
      if (!isPassing) throw error;
      await pause(PAUSE_MS * tries);
    }
  }
}

/** Whether a failure is that of its item only; otherwise the next item would have it too. */
const isOfItem = (error: unknown): error is CallFailure =>
  error instanceof CallFailure && !error.isTransient && error.status !== 401 && error.status !== 403;

type Run<Item> = {
  isRunning: boolean;
  done: number;
  total: number;
  /** Why the run has stopped before its end. */
  error: unknown;
  /** The errors of single items. */
  failures: ReadonlyMap<Item, CallFailure>;
};

const NO_RUN = { isRunning: false, done: 0, total: 0, error: null, failures: new Map<never, CallFailure>() };

/** Sends items one after the other, as long as the page is there; each under one key, however often it is tried. */
export function useRun<Item>(
  send: Send<Item>,
): Run<Item> & { start: (items: readonly Item[]) => void; forget: () => void } {
  const client = useQueryClient();
  const [run, setRun] = useState<Run<Item>>(NO_RUN);
  const isStarted = useRef(false);
  const isGone = useRef(false);
  useEffect(() => {
    isGone.current = false;
    return () => void (isGone.current = true);
  }, []);
  const sendAll = async (items: readonly Item[]): Promise<void> => {
    const failures = new Map<Item, CallFailure>();
    const progress = { ...NO_RUN, isRunning: true, total: items.length, failures };
    setRun(progress);
    let error: unknown = null;
    let done = 0;
    for (const item of items) {
      await sendUntilKnown(send, item).catch((failure: unknown) => {
        if (isOfItem(failure)) failures.set(item, failure);
        else error = failure;
      });
      if (error !== null || isGone.current) break;
      done += 1;
      setRun({ ...progress, done });
    }
    setRun({ ...progress, isRunning: false, done, error });
  };
  const start = (items: readonly Item[]): void => {
    // A second press in the same moment finds the first.
    if (isStarted.current) return;
    isStarted.current = true;
    void sendAll(items).finally(() => {
      isStarted.current = false;
      noteOwnChange();
      void client.invalidateQueries();
    });
  };
  return { ...run, start, forget: () => setRun(NO_RUN) };
}
