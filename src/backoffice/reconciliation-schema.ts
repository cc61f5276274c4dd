import { z } from 'zod';

import { instant } from '../lib/fields.ts';
import { dateParam, pageQuery } from '../lib/pagination.ts';
import { CHANNELS } from '../merchants/channels/channel.ts';
import { DISCREPANCY_KINDS, RECONCILIATION_STATUSES } from '../reconciliation/states.ts';
import { environment, id, reason } from './schema.ts';

const channel = z.enum(CHANNELS);
const day = dateParam.meta({ description: 'In Addis Ababa' });

export const DayQuery = z.strictObject({
  startDate: dateParam.optional(),
  endDate: dateParam.optional(),
  environment: environment.optional(),
  channel: channel.optional(),
});

const Sum = z.object({ count: z.int(), amount: z.number() });
const Sums = z.object({ payments: Sum, payouts: Sum, reversals: Sum }).nullable();

/** How a channel's day stands. */
export const ReconciledDay = z
  .object({
    environment,
    channel,
    day: z.string(),
    status: z.enum(RECONCILIATION_STATUSES),
    isRunning: z.boolean().meta({ description: 'It is being compared now, or waits for its provider' }),
    differences: z.int(),
    error: z.string().nullable().meta({ description: 'Why it does not go on, or was given up' }),
    theirs: Sums.meta({ description: 'What the provider lists; null before the first comparison' }),
    ours: Sums.meta({ description: 'What is booked of that, or was booked that day' }),
    owed: z.number().nullable().meta({ description: "What the provider owed by the ledger at the day's end" }),
    comparedAt: instant.nullable(),
  })
  .meta({ id: 'OpsReconciledDay' });

export const DifferenceQuery = z.strictObject({
  state: z.enum(['OPEN', 'CLOSED']).optional(),
  environment: environment.optional(),
  channel: channel.optional(),
  kind: z.enum(DISCREPANCY_KINDS).optional(),
  day: day.optional(),
  ...pageQuery,
});
export const DifferenceParams = z.strictObject({ differenceId: id });
export const Closing = z.strictObject({ reason });

/** Something that a provider's list and our books do not agree on. */
export const Difference = z
  .object({
    differenceId: z.string(),
    environment,
    channel,
    day: z.string(),
    kind: z.enum(DISCREPANCY_KINDS),
    type: z.string().meta({ description: 'payment, payout or payoutReversal' }),
    orderId: z.string().meta({ description: 'pat_… or wd_…, or what the provider calls an order that is not ours' }),
    ourStatus: z.string().nullable(),
    ours: z.number().nullable(),
    theirs: z.number().nullable(),
    theirCurrency: z.string().nullable(),
    providerReference: z.string().nullable(),
    detectedAt: instant,
    closedAt: instant.nullable(),
    closedBy: z.string().nullable().meta({ description: 'An operator; null when it vanished by itself' }),
    resolutionNote: z.string().nullable(),
  })
  .meta({ id: 'OpsDifference' });

export const DayToCompare = z.strictObject({
  day,
  channel: channel.optional(),
  environment: environment.optional(),
  reason: reason.optional(),
});
export const ChannelDay = z.object({ environment, channel, day: z.string() });
