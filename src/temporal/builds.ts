import { setTimeout as sleep } from 'node:timers/promises';

import { isGrpcServiceError } from '@temporalio/client';

import { UnavailableError } from '../lib/errors.ts';
import type { TemporalParts } from './requirements.ts';

const CALL_MS = 3_000;
const POLL_MS = 500;
/** gRPC. */
const [INVALID_ARGUMENT, NOT_FOUND, PERMISSION_DENIED, UNIMPLEMENTED, UNAUTHENTICATED] = [3, 5, 7, 12, 16];
/**
 * What another try does not change. Others mean that the build's workers do not poll all task queues yet, that another
 * process has changed the deployment meanwhile, or that Temporal is slow.
 */
const FINAL: (number | undefined)[] = [INVALID_ARGUMENT, PERMISSION_DENIED, UNIMPLEMENTED, UNAUTHENTICATED];

/** The build whose workers get the workflows; null while they go to workers without a build. */
export async function findCurrentBuild(parts: TemporalParts): Promise<string | null> {
  const described = await parts.connection
    .withDeadline(Date.now() + CALL_MS, async () => describe(parts))
    .catch((error: unknown) => {
      if (isGrpcServiceError(error) && error.code === NOT_FOUND) return null;
      throw error;
    });
  return described?.buildId ?? null;
}

/** `unlessAnother`: a build that is current already stays. */
export type UseBuild = { buildId: string; withinMs: number; unlessAnother?: boolean };

/**
 * Gives the workflows to the workers of a build: new ones from now on, waiting ones with their next step. Waits until these
 * workers poll every task queue of the build before. Returns the build that is current then. Throws UnavailableError with
 * Temporal's reason if that takes longer than `withinMs`.
 */
export async function useBuild(parts: TemporalParts, { buildId, withinMs, unlessAnother }: UseBuild): Promise<string> {
  const untilMs = performance.now() + withinMs;
  const attempt = async (): Promise<string> => {
    const { buildId: current, conflictToken } = await describe(parts);
    if (current === buildId || (unlessAnother && current)) return current;
    const build = { ...namesOf(parts), buildId, conflictToken, identity: `meskot-${buildId}` };
    await parts.connection.workflowService.setWorkerDeploymentCurrentVersion(build);
    return buildId;
  };
  for (;;) {
    try {
      return await parts.connection.withDeadline(Date.now() + CALL_MS, attempt);
    } catch (error) {
      if (!isGrpcServiceError(error) || FINAL.includes(error.code)) throw error;
      if (performance.now() > untilMs) {
        throw new UnavailableError(`Build ${buildId} cannot be made current: ${error.message}`);
      }
    }
    await sleep(POLL_MS);
  }
}

async function describe(parts: TemporalParts) {
  const { workflowService } = parts.connection;
  const { workerDeploymentInfo, conflictToken } = await workflowService.describeWorkerDeployment(namesOf(parts));
  return { buildId: workerDeploymentInfo?.routingConfig?.currentDeploymentVersion?.buildId, conflictToken };
}

const namesOf = ({ config }: TemporalParts) => ({
  namespace: config.TEMPORAL_NAMESPACE,
  deploymentName: deploymentOf(config),
});

/** Installations that share a namespace have deployments of their own, as they have task queues. */
export function deploymentOf(config: TemporalParts['config']): string {
  return `${config.TASK_QUEUE_PREFIX}${config.TEMPORAL_DEPLOYMENT_NAME}`;
}
