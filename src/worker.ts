import type { WorkflowBundle } from '@temporalio/worker';

import { createActivities } from '../activities/index.ts';
import type { Config } from './config.ts';
import { createFirstAttempts } from './first-attempts.ts';
import { systemClock } from './lib/clock.ts';
import { openDatabase, type Knex } from './lib/db.ts';
import { createEgressGuard } from './lib/egress.ts';
import { createHttpClient } from './lib/http-client.ts';
import type { Logger } from './lib/log.ts';
import { createRunChange } from './lib/outbox.ts';
import { createFindProvider } from './providers/find-provider.ts';
import { createRelay } from './relay.ts';
import { listenToOutbox, repairOpen, startChores } from './sweeper.ts';
import { startTemporalWorkers } from './temporal-workers.ts';
import { createCheckAttempt } from './transactions/check.ts';
import { expireDueSessions } from './transactions/end.ts';
import { openAttempts } from './transactions/payment-workflow.ts';
import { createExpireAttempt } from './transactions/unpaid.ts';
import { createClaim } from './webhooks/claim.ts';
import { createAttemptDelivery } from './webhooks/deliver.ts';
import { giveUpDelivery } from './webhooks/give-up.ts';
import { openDeliveries } from './webhooks/open-deliveries.ts';
import { runResendJobs } from './webhooks/resend-jobs.ts';
import { requestResend } from './webhooks/resend.ts';
import { createSave } from './webhooks/save.ts';
import { createSender } from './webhooks/send.ts';
import { createSendSlots } from './webhooks/slots.ts';

export type RunningWorker = {
  /** Resolves when Temporal's workers poll; deliveries are sent and sessions expire before that. */
  ready: Promise<void>;
  /** Finishes what is being sent, then closes everything. */
  stop: () => Promise<void>;
};

const EXPIRE_BATCH = 500;

/** The worker process: Temporal's workers, the outbox, first attempts, and the chores that need no workflow. */
export function startWorker(config: Config, options: { log: Logger; workflowBundle?: WorkflowBundle }): RunningWorker {
  const { log } = options;
  const clock = systemClock;
  const db = openDatabase({
    url: config.DATABASE_URL,
    poolMax: config.DATABASE_POOL_MAX,
    applicationName: 'meskot-worker',
  });
  const http = createHttpClient();
  const findProvider = createFindProvider({ http, clock, simulatorUrl: config.SIMULATOR_URL });
  const runChange = createRunChange(db, (messages) => relay.dispatch(messages));
  const checkDeps = { db, runChange, findProvider, clock, baseUrl: config.BASE_URL };
  const check = createCheckAttempt(checkDeps);
  const expire = createExpireAttempt(checkDeps);

  const slots = createSendSlots(config.WEBHOOK_SENDS_PER_SUBSCRIPTION_MAX);
  const sender = createSender({ guard: createEgressGuard(config.egress), proxyUrl: config.EGRESS_PROXY_URL });
  const save = createSave(db);
  const attempt = createAttemptDelivery({
    claim: createClaim(db),
    save,
    sender,
    keyRing: config.keyRing,
    onSaveFailed: (deliveryId, error) => log.warn({ err: error, deliveryId }, 'an outcome could not be saved yet'),
  });
  const temporal = startTemporalWorkers(
    {
      address: config.TEMPORAL_ADDRESS,
      namespace: config.TEMPORAL_NAMESPACE,
      retentionDays: config.TEMPORAL_RETENTION_DAYS,
      taskQueuePrefix: config.TASK_QUEUE_PREFIX,
      retryDelaysSeconds: config.WEBHOOK_RETRY_SECONDS,
      log,
      ...(options.workflowBundle && { workflowBundle: options.workflowBundle }),
    },
    createActivities({
      payments: { check: (attemptId, now) => check(attemptId, { tellWorkflow: false, now }), expire },
      webhooks: {
        attempt,
        save,
        slots,
        started: { holdsSlot: (id) => firstAttempts.holdsSlot(id), finished: (id) => firstAttempts.finished(id) },
        giveUp: async (request) => giveUpDelivery(db, request),
        requestResend: async ({ deliveryId, force }) => {
          await runChange((change) =>
            requestResend({ clock }, change, { deliveryIds: [deliveryId], force, tell: false }),
          );
        },
      },
    }),
  );
  const { tell, running, reachable } = temporal.processes;
  const firstAttempts = createFirstAttempts({
    db,
    tell,
    reachable,
    attempt,
    save,
    slots,
    workflows: config.WEBHOOK_WORKFLOWS,
    startsMax: config.WEBHOOK_STARTS_MAX,
    retryDelaysSeconds: config.WEBHOOK_RETRY_SECONDS,
    log,
  });
  const relay = createRelay({ db, tell, log, deliveries: firstAttempts });

  const sweep = async (): Promise<void> => {
    firstAttempts.poke();
    await relay.sweep();
  };
  const listening = listenToOutbox({ databaseUrl: config.DATABASE_URL, wake: () => void sweep().catch(() => {}), log });
  const chores = startChores(
    [
      { name: 'sweep the outbox', everyMs: 250, run: sweep },
      { name: 'expire sessions', everyMs: 1_000, run: () => expireDueSessions(runChange, clock(), EXPIRE_BATCH) },
      {
        name: 'run bulk resends',
        everyMs: 1_000,
        run: () => runResendJobs({ db, runChange, clock }, config.WEBHOOK_RESENDS_PER_SECOND),
      },
      {
        name: 'repair what Temporal lost',
        everyMs: 10_000,
        run: async () =>
          reachable() && repairOpen({ db, runChange, running, sources: [openDeliveries, openAttempts], log }),
      },
      { name: 'forget old idempotency keys', everyMs: 3_600_000, run: () => forgetIdempotencyKeys(db) },
    ],
    log,
  );

  return {
    ready: temporal.ready,
    stop: async () => {
      await Promise.all([listening.stop(), chores.stop(), firstAttempts.stop()]);
      await temporal.stop();
      await relay.idle();
      await Promise.all([sender.close(), http.close(), db.destroy()]);
    },
  };
}

async function forgetIdempotencyKeys(db: Knex): Promise<void> {
  await db('idempotencyKey').where('createdAt', '<', db.raw(`now() - interval '24 hours'`)).delete();
}
