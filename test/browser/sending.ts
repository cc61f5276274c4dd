import { readConfig } from '../../src/config.ts';
import { rows, type Database } from '../../src/lib/db.ts';
import { createLogger } from '../../src/lib/log.ts';
import { createTransactionRunner } from '../../src/outbox/record.ts';
import { createAttempt } from '../../src/webhooks/delivery/attempt.ts';
import { claimOne } from '../../src/webhooks/delivery/claim.ts';
import { createDispatcher } from '../../src/webhooks/delivery/dispatcher.ts';
import { createInFlight } from '../../src/webhooks/delivery/in-flight.ts';
import { createRecorder, recordAttempts } from '../../src/webhooks/delivery/record-attempt.ts';
import { createSandboxReceiver } from '../../src/webhooks/receiver/receiver.ts';
import { runResendBatches } from '../support/resend-jobs.ts';

const { keyRing } = readConfig({ DATABASE_URL: 'unused', TEMPORAL_ADDRESS: 'unused' });
const TRIGGER_MS = 200;

export type Sending = ReturnType<typeof startSending>;

/** Sends webhooks to built-in receivers as a worker does, without Temporal: a failure is retried after these seconds. */
export function startSending(db: Database, retryDelaysSeconds: readonly number[] = [60]) {
  const log = createLogger('silent', 'test');
  const inFlight = createInFlight(db, { perSubscription: 5, perThrottled: 5 });
  const receiver = createSandboxReceiver({ db, keyRing, log });
  const attempt = createAttempt({ sender: receiver, receiver, keyRing, onDefect: () => {} });
  const dispatcher = createDispatcher({
    db,
    log,
    inFlight,
    attempt,
    record: createRecorder({ db, log, inFlight }),
    workflows: 'failed',
    retryDelaysSeconds,
    onRecorded: () => {},
    onWorkflow: () => {},
  });
  const timer = setInterval(() => dispatcher.trigger(), TRIGGER_MS);
  return {
    /** One second of the bulk resends: their next resends are requested and sent. */
    tickResends: async () => {
      const clock = () => new Date();
      await runResendBatches({ db, clock, runInTransaction: createTransactionRunner(db, () => {}) }, 20);
      const due = await rows<{ id: string }>(
        db,
        'SELECT id FROM webhook_delivery WHERE status_before_resend IS NOT NULL',
      );
      for (const { id: deliveryId } of due) {
        const claimed = await claimOne(db, { deliveryId, startedAt: clock(), reclaim: true });
        if (claimed) await recordAttempts(db, [await attempt(claimed, { retryDelaysSeconds: [], jitter: 0 })]);
      }
    },
    stop: async () => {
      clearInterval(timer);
      await dispatcher.stop();
      inFlight.stop();
      await receiver.close();
    },
  };
}
