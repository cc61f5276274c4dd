import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';

import { CallFailure } from '../../ui/call.ts';
import { noteOwnChange } from '../../ui/use-calls.ts';
import { call } from '../routes.ts';
import type { BatchLine } from './batch-file.ts';

/** Quotes of the lines of a file. Under this key they are read again whenever a withdrawal changes. */
export function useQuotes(lines: readonly BatchLine[], enabled: boolean) {
  const body = { withdrawals: lines.map((line) => line.body) };
  return useQuery({
    queryKey: ['GET /api/checkout/withdrawal/quotes', { body }],
    queryFn: async ({ signal }) => (await call('POST /api/checkout/withdrawal/quotes', { body, signal })).data,
    placeholderData: keepPreviousData,
    select: (data) => ({ data }),
    enabled,
  });
}

const TRIES_MAX = 8;
const PAUSE_MS = 1_000;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Requests the withdrawal of one line. A lost answer and a full queue are tried again: the API requests a reference once,
 * however often it is sent, by whatever page. Throws CallFailure.
 */
async function request({ body }: BatchLine): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await call('POST /api/checkout/withdrawal', { body });
      return;
    } catch (error) {
      const isPassing = error instanceof CallFailure && error.isTransient && tries < TRIES_MAX;
      if (!isPassing) throw error;
      await pause(PAUSE_MS * tries);
    }
  }
}

/** Whether a failure is that of its line only; otherwise the next line would have it too. */
const isOfLine = (error: unknown): error is CallFailure =>
  error instanceof CallFailure && !error.isTransient && error.status !== 401 && error.status !== 403;

type Run = {
  isRunning: boolean;
  done: number;
  total: number;
  /** Why the run has stopped before its end. */
  error: unknown;
  /** The errors of single lines, by their place in the file. */
  failures: ReadonlyMap<number, CallFailure>;
};

const NO_RUN: Run = { isRunning: false, done: 0, total: 0, error: null, failures: new Map() };

/** Requests lines one after the other, as long as the page is there. */
export function useRequests(): Run & { start: (lines: readonly BatchLine[]) => void; forget: () => void } {
  const client = useQueryClient();
  const [run, setRun] = useState(NO_RUN);
  const isStarted = useRef(false);
  const isGone = useRef(false);
  useEffect(() => {
    isGone.current = false;
    return () => void (isGone.current = true);
  }, []);
  const requestAll = async (lines: readonly BatchLine[]): Promise<void> => {
    const failures = new Map<number, CallFailure>();
    const progress = { ...NO_RUN, isRunning: true, total: lines.length, failures };
    setRun(progress);
    let error: unknown = null;
    let done = 0;
    for (const line of lines) {
      await request(line).catch((failure: unknown) => {
        if (isOfLine(failure)) failures.set(line.line, failure);
        else error = failure;
      });
      if (error !== null || isGone.current) break;
      done += 1;
      setRun({ ...progress, done });
    }
    setRun({ ...progress, isRunning: false, done, error });
  };
  const start = (lines: readonly BatchLine[]): void => {
    // A second press in the same moment finds the first.
    if (isStarted.current) return;
    isStarted.current = true;
    void requestAll(lines).finally(() => {
      isStarted.current = false;
      noteOwnChange();
      void client.invalidateQueries();
    });
  };
  return { ...run, start, forget: () => setRun(NO_RUN) };
}
