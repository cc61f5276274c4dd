import { randomBytes } from 'node:crypto';

import { findSandboxPayout } from '../../lib/sandbox-providers.ts';
import type { CallbackSender } from './callback-sender.ts';
import { hasFault } from './callback.ts';
import type { MovableClock } from './clock.ts';
import type { Faults, SimulatedChannel } from './faults.ts';
import {
  payoutCallbacks,
  plannedPayout,
  plannedReversalMs,
  type Payout,
  type PayoutDecision,
  type PayoutRequest,
} from './payout.ts';
import type { StateFile } from './state-file.ts';

type PayoutBookDeps = { clock: MovableClock; faults: Faults; file: StateFile; sender: CallbackSender<Payout> };

export type PlacedPayout =
  | { kind: 'placed'; payout: Payout }
  /** Another order: this id was used before, for another amount or payee. */
  | { kind: 'refused'; why: 'UNKNOWN_PAYEE' | 'ANOTHER_ORDER' };

/** All payouts of all channels. The same order id of a channel is one payout, however often it is submitted. */
export type PayoutBook = {
  place: (request: PayoutRequest) => Promise<PlacedPayout>;
  find: (channel: SimulatedChannel, orderId: string) => Payout | null;
  all: () => Payout[];
  reset: () => void;
};

/** Starts with the payouts of the state file: what they wait for is scheduled again. */
export function createPayoutBook(deps: PayoutBookDeps, saved: Payout[]): PayoutBook {
  const { clock, faults, file, sender } = deps;
  const payouts = new Map(saved.map((payout) => [keyOf(payout), payout]));
  const course = createCourse(deps);
  for (const payout of saved) course.resume(payout);

  return {
    all: () => [...payouts.values()],
    find: (channel, orderId) => payouts.get(keyOf({ channel, orderId })) ?? null,

    async place(request) {
      const existing = payouts.get(keyOf(request));
      if (existing) {
        existing.submissions += 1;
        file.savePayout(existing);
        return isSame(existing, request) ? { kind: 'placed', payout: existing } : refused('ANOTHER_ORDER');
      }
      const payout = newPayout(request, clock.nowMs());
      if (!payout) return refused('UNKNOWN_PAYEE');
      payout.faults = faults.takeForOrder(payout.channel, 'payout');
      payouts.set(keyOf(payout), payout);
      file.savePayout(payout);
      await course.begin(payout);
      return { kind: 'placed', payout };
    },

    reset() {
      payouts.clear();
      sender.forget();
    },
  };
}

/** What becomes of payouts in their time: decided, told, and sometimes reversed. */
function createCourse({ clock, file, sender }: Pick<PayoutBookDeps, 'clock' | 'file' | 'sender'>) {
  function scheduleDecision(payout: Payout): void {
    const decision = plannedPayout(payout);
    if (decision === null) return;
    clock.at(decision.atMs, async () => {
      if (payout.state !== 'ACCEPTED') return;
      decide(payout, decision);
      sender.schedule(payout);
    });
  }

  function decide(payout: Payout, decision: PayoutDecision): void {
    payout.state = decision.state;
    payout.decidedAtMs = decision.atMs;
    payout.paidAmount = decision.paidAmount;
    payout.failure = decision.failure;
    payout.callbacks = payoutCallbacks(payout, decision.atMs);
    file.savePayout(payout);
    scheduleReversal(payout);
  }

  function scheduleReversal(payout: Payout): void {
    const atMs = plannedReversalMs(payout);
    if (atMs === null) return;
    clock.at(atMs, async () => {
      if (payout.state !== 'PAID') return;
      payout.state = 'REVERSED';
      payout.reversedAtMs = atMs;
      const sent = payout.callbacks.length;
      payout.callbacks.push(...payoutCallbacks(payout, atMs));
      file.savePayout(payout);
      sender.schedule(payout, sent);
    });
  }

  return {
    async begin(payout: Payout): Promise<void> {
      const decision = plannedPayout(payout);
      if (decision && hasFault(payout, 'callbackBeforeAnswer')) {
        decide(payout, { ...decision, atMs: clock.nowMs() });
        await sender.sendNow(payout);
      } else if (decision && decision.atMs <= payout.createdAtMs) decide(payout, decision);
      else scheduleDecision(payout);
    },

    /** After a restart. */
    resume(payout: Payout): void {
      if (payout.state === 'ACCEPTED') return scheduleDecision(payout);
      sender.schedule(payout);
      scheduleReversal(payout);
    },
  };
}

/** Null when the sandbox knows no such phone. */
function newPayout(request: PayoutRequest, nowMs: number): Payout | null {
  const behaviour = findSandboxPayout(request.payee)?.behaviour;
  if (!behaviour) return null;
  return {
    ...request,
    behaviour,
    reference: randomBytes(12).toString('hex').toUpperCase(),
    transactionReference: randomBytes(6).toString('hex').toUpperCase(),
    createdAtMs: nowMs,
    faults: [],
    state: 'ACCEPTED',
    decidedAtMs: null,
    paidAmount: null,
    failure: null,
    reversedAtMs: null,
    submissions: 1,
    queries: 0,
    callbacks: [],
  };
}

function refused(why: 'UNKNOWN_PAYEE' | 'ANOTHER_ORDER'): PlacedPayout {
  return { kind: 'refused', why };
}

function isSame(payout: Payout, request: PayoutRequest): boolean {
  return (
    payout.amount === request.amount &&
    payout.currency === request.currency &&
    JSON.stringify(payout.payee) === JSON.stringify(request.payee)
  );
}

function keyOf({ channel, orderId }: { channel: SimulatedChannel; orderId: string }): string {
  return `${channel} ${orderId}`;
}
