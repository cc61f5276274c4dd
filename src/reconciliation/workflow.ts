import type { Environment } from '../lib/scope.ts';
import type { Channel } from '../merchants/channels/channel.ts';
import type { OutboxMessage } from '../outbox/record.ts';

/** A channel's day, YYYY-MM-DD in Addis Ababa. */
export type ChannelDay = { environment: Environment; channel: Channel; day: string };

/** The input of `workflows/reconciliation.ts`: ids only. */
export type ReconciliationInput = ChannelDay & { reconciliationId: string };

/** The id of the row; the workflow has {@link reconciliationWorkflowId}. */
export function reconciliationId({ environment, channel, day }: ChannelDay): string {
  return `${environment}-${channel}-${day}`;
}

/** At most one workflow runs for a day of a channel, under this id. */
export function reconciliationWorkflowId(id: string): string {
  return `reconciliation-${id}`;
}

/** Starts the workflow of the day, or signals the running one to import the statement again at once. */
export function requestMessage({ environment, channel, day }: ChannelDay): OutboxMessage {
  const id = reconciliationId({ environment, channel, day });
  return {
    kind: 'signalWithStart',
    signal: 'rerunRequested',
    workflowType: 'reconciliation',
    workflowId: reconciliationWorkflowId(id),
    input: { reconciliationId: id, environment, channel, day } satisfies ReconciliationInput,
  };
}
