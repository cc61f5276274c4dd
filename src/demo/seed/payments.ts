import { rows } from '../../lib/db.ts';
import { SANDBOX_PHONES, type SandboxBehaviour } from '../../lib/sandbox-providers.ts';
import type { UnitOfWork } from '../../outbox/record.ts';
import { closeAttempt, closeSession, createExpireAttempt } from '../../payments/close-session.ts';
import { createSession, type NewSession } from '../../payments/create-session.ts';
import { startPayment } from '../../payments/pay.ts';
import { createSyncAttempt } from '../../payments/sync.ts';
import type { ProviderOutcome } from '../../providers/provider.ts';
import { advance, scriptedProvider, silentLogger, type SeedContext, type HistoryItem } from './history.ts';

export type DemoChannel = 'TELEBIRR' | 'CBE_BIRR' | 'AWASH';

export type PlannedPayment = {
  createdAt: Date;
  session: NewSession;
  channel: DemoChannel;
  scenario: Scenario;
  /** The time between two steps. */
  stepMs: number;
  providerReference: string;
};

export type Scenario = keyof typeof SCENARIOS;

/** The customer pays (`approve` to `never`), the provider responds, the session's time passes, or something ends. */
type Step =
  | ('approve' | 'decline' | 'insufficient-funds' | 'never')
  | ('accepted' | 'succeeded' | 'otherAmount' | 'declined' | 'retryable')
  | ('expiry' | 'expireAttempt' | 'cancelAttempt' | 'expireSession' | 'cancelSession');

const FAILED_TRY = ['insufficient-funds', 'retryable'] as const;

/**
 * How a payment proceeds after its session was created, and how many in a thousand do: 86 % SUCCESS, 6 % FAILED,
 * 4 % EXPIRED, 3 % CANCELLED, 1 % PENDING. `held` is one of the pending ones.
 */
export const SCENARIOS = {
  paid: { share: 822, steps: ['approve', 'succeeded'] },
  paidOnSecondTry: { share: 35, steps: [...FAILED_TRY, 'approve', 'succeeded'] },
  paidLate: { share: 3, steps: ['never', 'accepted', 'expiry', 'expireAttempt', 'succeeded'] },
  declined: { share: 45, steps: ['decline', 'declined'] },
  declinedThrice: { share: 15, steps: [...FAILED_TRY, ...FAILED_TRY, ...FAILED_TRY] },
  leftOpen: { share: 25, steps: ['expiry', 'expireSession'] },
  expiredInFlight: { share: 15, steps: ['never', 'accepted', 'expiry', 'expireAttempt'] },
  cancelled: { share: 20, steps: ['cancelSession'] },
  cancelledInFlight: { share: 10, steps: ['never', 'accepted', 'cancelAttempt'] },
  stillOpen: { share: 10, steps: [] },
  held: { share: 0, steps: ['approve', 'otherAmount'] },
} satisfies Record<string, { share: number; steps: Step[] }>;

const EXPIRY_NOTICED_AFTER_MS = 500;
const OTHER_BY_SANTIM = 1_00n;
/** The tokens of past sessions go to no customer. */
const UNUSED_PEPPER = 'unused';

/** The planned payments, of which the provider has reported another amount for the oldest that was to stay open. */
export function withOneHeld(planned: readonly PlannedPayment[]): PlannedPayment[] {
  const oldest = planned.find(({ scenario }) => scenario === 'stillOpen');
  return planned.map((one) => (one === oldest ? { ...one, scenario: 'held' } : one));
}

/** A past payment, whose provider responds by the scenario. */
export function paymentItem(payment: PlannedPayment): HistoryItem {
  const { createdAt, session, scenario, stepMs } = payment;
  const steps: Step[] = SCENARIOS[scenario].steps;
  const expiry = steps.indexOf('expiry');
  const expiryMs = expiry === -1 ? 0 : session.expiresInMinutes * 60_000 + EXPIRY_NOTICED_AFTER_MS;
  return {
    key: session.checkoutOrderNo,
    begunAt: createdAt,
    completedAt: new Date(createdAt.getTime() + expiryMs + (steps.length - 1 - expiry) * stepMs),
    isAlone: false,
    seed: async (context) => {
      const run = await beginPayment(context, payment);
      for (const step of steps) {
        advance(context, stepMs);
        await run[step]();
      }
    },
  };
}

/** Creates the session. Returns the steps that may follow. */
async function beginPayment(
  context: SeedContext,
  { channel, session, providerReference }: PlannedPayment,
): Promise<Record<Step, () => Promise<unknown>>> {
  const { tx, scope, clock, runInTransaction } = context;
  const { trx } = tx;
  // Not deferred: the next step reads the session.
  const writeDeferred: UnitOfWork['writeDeferred'] = async (sql, values) => void (await rows(trx, sql, values));
  const noProvider = scriptedProvider(channel, {});
  const deps = { ...context, tx: { ...tx, writeDeferred }, db: trx, pepper: UNUSED_PEPPER, findProvider: noProvider };
  const { sessionId, expiresAt } = await createSession(deps, scope, session);

  let attemptId = '';
  const pay = (behaviour: SandboxBehaviour) => async () => {
    const phone = SANDBOX_PHONES.find((one) => one.behaviour === behaviour)?.phone ?? '';
    const wanted = { channel, phone };
    ({ attemptId } = await startPayment({ tx, clock, findProvider: noProvider }, { ...scope, sessionId }, wanted));
  };
  const checkWith = (respond: () => Promise<ProviderOutcome>) =>
    createSyncAttempt({
      ...context,
      db: trx,
      findProvider: scriptedProvider(channel, { initiate: respond, query: respond }),
      log: silentLogger,
    });
  const receive = (outcome: ProviderOutcome) => async () =>
    checkWith(async () => outcome)(attemptId, { notifyWorkflow: false });
  const { amountSantim, currency } = session;
  const accepted = { kind: 'accepted', providerReference, redirectUrl: null, providerCode: null } as const;
  const paid = { kind: 'succeeded', providerReference, amountSantim, currency, providerCode: null } as const;
  const end = <Status>(status: Status) => ({ status, needsReconciliation: false, at: clock() });
  return {
    approve: pay('approve'),
    decline: pay('decline'),
    'insufficient-funds': pay('insufficient-funds'),
    never: pay('never'),
    accepted: receive(accepted),
    succeeded: receive(paid),
    otherAmount: receive({ ...paid, amountSantim: amountSantim - OTHER_BY_SANTIM }),
    declined: receive(declined('DECLINED', 'The customer declined the payment.')),
    retryable: receive(declined('INSUFFICIENT_FUNDS', 'The balance was not sufficient.')),
    expiry: async () => context.advanceTo(new Date(expiresAt.getTime() + EXPIRY_NOTICED_AFTER_MS)),
    expireAttempt: () => {
      const checkAttempt = checkWith(async () => accepted);
      return createExpireAttempt({ db: trx, runInTransaction, checkAttempt, log: silentLogger })(attemptId, clock());
    },
    cancelAttempt: () => closeAttempt(tx, { id: attemptId, notifyWorkflow: false }, end('CANCELLED')),
    expireSession: () => closeSession(tx, sessionId, end('EXPIRED')),
    cancelSession: () => closeSession(tx, sessionId, end('CANCELLED')),
  };
}

function declined(code: 'DECLINED' | 'INSUFFICIENT_FUNDS', message: string): ProviderOutcome {
  const retryable = code === 'INSUFFICIENT_FUNDS';
  return { kind: 'declined', failure: { code, message, providerCode: code, retryable } };
}
