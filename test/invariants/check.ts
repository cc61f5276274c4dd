import { everyDeliveryStands, nothingEarlyNothingLate } from './deliveries.ts';
import type { Evidence } from './evidence.ts';
import { eventsOfEnds, onlyListedMoves, providersTruth } from './payments.ts';
import { everythingIsLookedAfter } from './processes.ts';
import {
  bytesNeverChange,
  deliveredMeansAccepted,
  everyRequestHasItsRow,
  nobodyElsesEvents,
  noDuplicates,
} from './receivers.ts';
import { answeredIsThere, oneKeyOneEffect } from './requests.ts';

/** Each check returns a sentence per violation. */
type Invariant = (evidence: Evidence) => Promise<string[]>;

const INVARIANTS = {
  I1: [answeredIsThere],
  I2: [oneKeyOneEffect],
  I4: [providersTruth],
  I5: [onlyListedMoves],
  I6: [eventsOfEnds, bytesNeverChange],
  I7: [everyDeliveryStands],
  I8: [deliveredMeansAccepted],
  I9: [nothingEarlyNothingLate],
  I10: [everyRequestHasItsRow],
  I11: [nobodyElsesEvents],
  I12: [everythingIsLookedAfter],
  I15: [noDuplicates],
} as const satisfies Record<string, readonly Invariant[]>;

/** Runs all checks; returns "I8: sentence" for each violation. */
export async function violations(evidence: Evidence): Promise<string[]> {
  const found: string[] = [];
  for (const [name, checks] of Object.entries(INVARIANTS)) {
    for (const check of checks) for (const violation of await check(evidence)) found.push(`${name}: ${violation}`);
  }
  return found;
}

const QUIET_WITHIN_MS = 30_000;

/**
 * Waits until the evidence, gathered anew each time, shows no violation; fails with those that remain. Pending work
 * ends in this time, and Temporal's list of running workflows lags by a moment.
 */
export async function expectInvariants(gather: () => Promise<Evidence>): Promise<void> {
  for (const endMs = Date.now() + QUIET_WITHIN_MS; ;) {
    const found = await violations(await gather());
    if (found.length === 0) return;
    if (Date.now() > endMs) throw new Error(`the invariants do not hold:\n${found.join('\n')}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
