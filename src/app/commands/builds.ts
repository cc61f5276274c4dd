import { Connection } from '@temporalio/client';

import type { Config } from '../../config.ts';
import { useBuild } from '../../temporal/builds.ts';
import { temporalConnection } from '../../temporal/client.ts';
import { CommandError, EXIT, reasonOf } from './api-client.ts';

const CONNECT_MS = 5_000;
/** Workers that have just started poll within seconds. */
const POLLED_WITHIN_MS = 60_000;

/** `meskot workflows use-build`: returns what has happened, as a sentence. Throws CommandError with the next step. */
export async function makeCurrent(config: Config, named?: string): Promise<string> {
  const buildId = named ?? config.TEMPORAL_WORKER_BUILD_ID;
  if (buildId === undefined) throw new CommandError(EXIT.usage, 'Name a build, or set TEMPORAL_WORKER_BUILD_ID.');
  const reached = temporalConnection(config);
  const connection = await Connection.connect({ ...reached, connectTimeout: CONNECT_MS }).catch((error: unknown) => {
    const found = `Temporal at ${reached.address} does not answer (${reasonOf(error)}).`;
    throw new CommandError(EXIT.unreachable, `${found} Check TEMPORAL_ADDRESS, and "meskot doctor".`);
  });
  try {
    await useBuild({ config, connection }, { buildId, withinMs: POLLED_WITHIN_MS });
    return `The workflows go to the workers of build ${buildId}.`;
  } catch (error) {
    throw new CommandError(EXIT.failed, `${reasonOf(error)} Check that workers of that build run.`);
  } finally {
    await connection.close();
  }
}
