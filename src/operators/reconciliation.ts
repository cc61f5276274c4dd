import type { Channel } from '../channels/channel.ts';
import type { Environment } from '../lib/owner.ts';
import { askForDay, type Wanted } from '../reconciliation/ask.ts';
import { closeDifference, type Difference } from '../reconciliation/differences.ts';
import { note, type Deed } from './audit.ts';

type AskDeps = Parameters<typeof askForDay>[1];

/** Asks for a day to be compared, again or for the first time. Throws VALIDATION_ERROR. */
export async function compareAgain(
  deed: Deed,
  { reason, ...wanted }: Wanted & { reason?: string | undefined },
  deps: AskDeps,
): Promise<{ environment: Environment; channel: Channel; day: string }[]> {
  const asked = await askForDay(deed.change, deps, wanted);
  await note(deed, {
    action: 'reconciliation.run',
    resourceType: 'reconciliation',
    resourceId: wanted.day,
    ...(wanted.environment && { environment: wanted.environment }),
    after: { days: asked.map(({ environment, channel }) => `${environment} ${channel}`) },
    reason,
  });
  return asked;
}

/** Closes a difference that was looked into; twice is no error, and noted once. Throws NOT_FOUND, INVALID_STATE. */
export async function settleDifference(
  deed: Deed,
  { differenceId, reason }: { differenceId: string; reason: string },
): Promise<Difference> {
  const { change, operatorId, at } = deed;
  const difference = await closeDifference(change, differenceId, { operatorId, reason, at });
  // What was closed before has another time of closing.
  if (difference.closedAt?.getTime() !== at.getTime()) return difference;
  const { id, environment, kind, orderId } = difference;
  const about = { resourceType: 'difference', resourceId: id, environment } as const;
  await note(deed, { action: 'reconciliation.close', ...about, after: { kind, orderId, closed: true }, reason });
  return difference;
}
