import { recordAudit, type AuditContext } from '../access/audit.ts';
import type { Environment } from '../lib/scope.ts';
import type { Channel } from '../merchants/channels/channel.ts';
import { closeDifference, type Discrepancy } from '../reconciliation/discrepancies.ts';
import { requestRun, type RunRequest } from '../reconciliation/request.ts';

type RequestRunDeps = Parameters<typeof requestRun>[1];

/** Asks for a day to be compared, again or for the first time. Throws VALIDATION_ERROR. */
export async function requestReconciliation(
  context: AuditContext,
  { reason, ...wanted }: RunRequest & { reason?: string | undefined },
  deps: RequestRunDeps,
): Promise<{ environment: Environment; channel: Channel; day: string }[]> {
  const requested = await requestRun(context.tx, deps, wanted);
  await recordAudit(context, {
    action: 'reconciliation.run',
    resourceType: 'reconciliation',
    resourceId: wanted.day,
    ...(wanted.environment && { environment: wanted.environment }),
    after: { days: requested.map(({ environment, channel }) => `${environment} ${channel}`) },
    reason,
  });
  return requested;
}

/** Closes a difference that was looked into; twice is no error, and noted once. Throws NOT_FOUND, INVALID_STATE. */
export async function closeDiscrepancy(
  context: AuditContext,
  { differenceId, reason }: { differenceId: string; reason: string },
): Promise<Discrepancy> {
  const { tx, operatorId, at } = context;
  const difference = await closeDifference(tx, differenceId, { operatorId, reason, at });
  // What was closed before has another time of closing.
  if (difference.closedAt?.getTime() !== at.getTime()) return difference;
  const { id, environment, kind, orderId } = difference;
  const about = { resourceType: 'difference', resourceId: id, environment } as const;
  await recordAudit(context, {
    action: 'reconciliation.close',
    ...about,
    after: { kind, orderId, closed: true },
    reason,
  });
  return difference;
}
