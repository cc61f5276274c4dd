import type { Environment } from '../lib/scope.ts';
import type { Channel } from '../merchants/channels/channel.ts';
import type { OutboxMessage } from '../outbox/record.ts';

/** A channel's day, YYYY-MM-DD in Addis Ababa. */
export type ChannelDay = { environment: Environment; channel: Channel; day: string };

/** What `workflows/reconciliation.ts` is started with: ids only. */
export type ReconciliationInput = ChannelDay & { reconciliationId: string };

/** The row's id; its workflow's is {@link reconciliationWorkflowId}. */
export function reconciliationId({ environment, channel, day }: ChannelDay): string {
  return `${environment}-${channel}-${day}`;
}

/** One workflow at a time for each channel's day, under this id. */
export function reconciliationWorkflowId(id: string): string {
  return `reconciliation-${id}`;
}

/** Starts the day's workflow, or tells the one that runs to ask at once and to read the list again. */
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
