import type { Ground, GroundMerchant } from '../chaos/ground.ts';
import { buildWorld, type World } from '../support/build.ts';
import { until } from '../support/until.ts';

/** The servers and the merchant of a scene. */
export type Scene = { ground: Ground; merchant: GroundMerchant };

/** A run that continued as new. */
export type Continued = { workflowId: string; runId: string };

/**
 * By the name of its file: each returns the id of a workflow that has ended or is about to; its last run is recorded.
 */
export type Scenes = Readonly<Record<string, (scene: Scene) => Promise<string | Continued>>>;

/** The operations of tests, on the real clock. */
export function moneyOf({ ground: { world } }: Scene): World {
  return { ...buildWorld(world.db, { clock: () => new Date() }), runInTransaction: world.runInTransaction };
}

/** Waits until the outbox contains no message for the workflow. */
export async function untilSent({ ground: { world } }: Scene, workflowId: string): Promise<void> {
  await until(
    'the outbox of the workflow to be empty',
    async () => (await world.db('outbox').where({ workflowId })).length === 0,
  );
}

/** Waits until the workflow's published progress starts with this text. */
export async function untilProgress({ ground: { world } }: Scene, workflowId: string, words: string): Promise<void> {
  const handle = world.temporal.client.workflow.getHandle(workflowId);
  await until(`the workflow to say "${words}"`, async () => {
    const metadata: unknown = await handle.query('__temporal_workflow_metadata').catch(() => null);
    const { currentDetails } = (metadata ?? {}) as { currentDetails?: string };
    return currentDetails?.startsWith(words);
  });
}
