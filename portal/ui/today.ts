import { useSyncExternalStore } from 'react';

import { addisDay } from '../../src/lib/dates.ts';

const LOOK_EVERY_MS = 60_000;

function everyMinute(look: () => void): () => void {
  const timer = setInterval(look, LOOK_EVERY_MS);
  return () => clearInterval(timer);
}

/** Shows a component again when a day begins in Addis Ababa, with the days that have moved. */
export const useToday = (): string => useSyncExternalStore(everyMinute, () => addisDay(new Date()));
