import { createLogger } from '../../src/lib/log.ts';
import { createAttempt } from '../../src/webhooks/delivery/attempt.ts';
import { createDispatcher, type DispatcherDeps } from '../../src/webhooks/delivery/dispatcher.ts';
import { createInFlight, type InFlightLimits } from '../../src/webhooks/delivery/in-flight.ts';
import { createRecorder } from '../../src/webhooks/delivery/record-attempt.ts';
import type { Receiver } from '../support/receiver.ts';
import { cleanUp, later, sender } from '../support/sending.ts';
import { createFixture, type Fixture } from './fixture.ts';

/** The fixture of the test that runs. */
export let fixture: Fixture;

/** A fixture of its own for each test of a file. */
export function useFixtures(): void {
  beforeEach(async () => {
    fixture = await createFixture();
  });
  afterEach(async () => {
    await cleanUp();
    await fixture.drop();
  });
}

export const log = createLogger('silent', 'test');
export const pause = async (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
export const delivery = async (id: string) => fixture.db.knex()('webhookDelivery').where({ id }).first();
export const attemptsOf = async (deliveryId: string) =>
  fixture.db.knex()('webhookAttempt').where({ deliveryId }).orderBy('sequence');

/** A merchant with a subscription at this receiver, and what records an event for it. */
export async function buildSubscriber(shop: Receiver) {
  const scope = await fixture.newMerchant();
  const { row } = await fixture.subscribe(scope);
  await fixture.db.knex()('webhookSubscription').where({ id: row.id }).update({ url: shop.url });
  return {
    subscriptionId: row.id,
    record: async (): Promise<string> => fixture.deliveryId(await fixture.record(scope)),
  };
}

export const buildAttempt = () =>
  createAttempt({ sender: sender(), receiver: sender(), keyRing: fixture.deps.keyRing, onDefect: () => {} });

export function buildInFlight(limits: Partial<InFlightLimits> = {}) {
  const inFlight = createInFlight(fixture.db, { perSubscription: 50, perThrottled: 10, ...limits });
  later(async () => inFlight.stop());
  return inFlight;
}

export function buildDispatcher(other: Partial<DispatcherDeps> = {}) {
  const inFlight = other.inFlight ?? buildInFlight();
  const dispatcher = createDispatcher({
    db: fixture.db,
    log,
    attempt: buildAttempt(),
    record: createRecorder({ db: fixture.db, log, inFlight }),
    inFlight,
    workflows: 'failed',
    retryDelaysSeconds: [60],
    onRecorded: () => {},
    onWorkflow: () => {},
    ...other,
  });
  later(dispatcher.stop);
  return dispatcher;
}

/** Waits until the delivery has this status, at most 5 s. */
export async function untilStatus(id: string, status: string): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    if ((await delivery(id)).status === status) return;
    await pause(25);
  }
  throw new Error(`the delivery is ${(await delivery(id)).status}, not ${status}`);
}
