import { everyDeliveryStands, nothingEarlyNothingLate } from './deliveries.ts';
import type { Evidence } from './evidence.ts';
import { eventsOfEnds, onlyListedMoves, providersTruth } from './payments.ts';
import { everythingIsLookedAfter } from './processes.ts';
import {
  bytesNeverChange,
  deliveredMeansTaken,
  everyRequestHasItsRow,
  nobodyElsesEvents,
  noDuplicates,
} from './receivers.ts';
import { answeredIsThere, oneKeyOneEffect } from './requests.ts';

/** Each gives a sentence for every place where it does not hold. */
type Invariant = (evidence: Evidence) => Promise<string[]>;

const INVARIANTS = {
  I1: [answeredIsThere],
  I2: [oneKeyOneEffect],
  I4: [providersTruth],
  I5: [onlyListedMoves],
  I6: [eventsOfEnds, bytesNeverChange],
  I7: [everyDeliveryStands],
  I8: [deliveredMeansTaken],
  I9: [nothingEarlyNothingLate],
  I10: [everyRequestHasItsRow],
  I11: [nobodyElsesEvents],
  I12: [everythingIsLookedAfter],
  I15: [noDuplicates],
} as const satisfies Record<string, readonly Invariant[]>;

/** Judges the evidence; one "I8: sentence" for everything that does not hold, none if all is well. */
export async function violations(evidence: Evidence): Promise<string[]> {
  const found: string[] = [];
  for (const [name, checks] of Object.entries(INVARIANTS)) {
    for (const check of checks) for (const says of await check(evidence)) found.push(`${name}: ${says}`);
  }
  return found;
}

const QUIET_WITHIN_MS = 30_000;

/**
 * Waits until the evidence, gathered anew each time, shows no violation; fails with those that stay. What is under way
 * settles in this time, and Temporal's list of running workflows lags a moment behind.
 */
export async function expectInvariants(gather: () => Promise<Evidence>): Promise<void> {
  for (const endMs = Date.now() + QUIET_WITHIN_MS; ;) {
    const found = await violations(await gather());
    if (found.length === 0) return;
    if (Date.now() > endMs) throw new Error(`the invariants do not hold:\n${found.join('\n')}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
