import type { ChaosService, ChaosMerchant } from '../chaos/service.ts';
import { buildFixture, type Fixture } from '../support/build.ts';
import { until } from '../support/until.ts';

/** The servers and the merchant of a scene. */
export type Scene = { service: ChaosService; merchant: ChaosMerchant };

/** A run that continued as new. */
export type Continued = { workflowId: string; runId: string };

/**
 * By the name of its file: each returns the id of a workflow that has ended or is about to; its last run is recorded.
 */
export type Scenes = Readonly<Record<string, (scene: Scene) => Promise<string | Continued>>>;

/** The operations of tests, on the real clock. */
export function moneyOf({ service: { fixture } }: Scene): Fixture {
  return { ...buildFixture(fixture.db, { clock: () => new Date() }), runInTransaction: fixture.runInTransaction };
}

/** Waits until the outbox contains no message for the workflow. */
export async function untilSent({ service: { fixture } }: Scene, workflowId: string): Promise<void> {
  await until(
    'the outbox of the workflow to be empty',
    async () => (await fixture.db.knex()('outbox').where({ workflowId })).length === 0,
  );
}

/** Waits until the workflow's published progress starts with this text. */
export async function untilProgress({ service: { fixture } }: Scene, workflowId: string, words: string): Promise<void> {
  const handle = fixture.temporal.client.workflow.getHandle(workflowId);
  await until(`the workflow to say "${words}"`, async () => {
    const metadata: unknown = await handle.query('__temporal_workflow_metadata').catch(() => null);
    const { currentDetails } = (metadata ?? {}) as { currentDetails?: string };
    return currentDetails?.startsWith(words);
  });
}
