import { z } from 'zod';

import { nameFields } from '../access/names.ts';
import { environment, id, reason, temporalUrl } from '../access/operator-schema.ts';
import { instant } from '../lib/fields.ts';
import { dateParam, pageQuery } from '../lib/pagination.ts';
import { CHANNELS } from '../merchants/channels/channel.ts';
import { DISCREPANCY_KINDS, RECONCILIATION_STATUSES } from './states.ts';

const channel = z.enum(CHANNELS);
const day = dateParam.describe('A day in Addis Ababa');

export const DayQuery = z.strictObject({
  startDate: dateParam.optional(),
  endDate: dateParam.optional(),
  environment: environment.optional(),
  channel: channel.optional(),
});

const Sum = z.object({ count: z.int(), amount: z.number() });
const Sums = z.object({ payments: Sum, payouts: Sum, reversals: Sum, refunds: Sum }).nullable();

export const ChannelDay = z.object({ environment, channel, day: z.string() });

export const ReconciledDay = ChannelDay.extend({
  status: z.enum(RECONCILIATION_STATUSES),
  isRunning: z.boolean().describe('It is being compared, or the provider has no statement yet'),
  discrepancies: z.int(),
  error: z
    .string()
    .nullable()
    .describe('Why the comparison is delayed, was abandoned, or lacks accounts, which it names'),
  theirs: Sums.describe('By the statement of the provider; null before the first comparison'),
  ours: Sums.describe('Our bookings of these orders and of that day'),
  owed: z.number().nullable().describe('What the provider owed at the end of the day, by the ledger'),
  comparedAt: instant.nullable(),
  temporalUrl,
}).meta({ id: 'OpsReconciledDay' });

export const DiscrepancyQuery = z.strictObject({
  state: z.enum(['OPEN', 'CLOSED']).optional(),
  environment: environment.optional(),
  channel: channel.optional(),
  kind: z.enum(DISCREPANCY_KINDS).optional(),
  day: day.optional(),
  ...pageQuery,
});
export const DiscrepancyParams = z.strictObject({ discrepancyId: id });

export const Discrepancy = z
  .object({
    discrepancyId: z.string(),
    ...ChannelDay.shape,
    kind: z.enum(DISCREPANCY_KINDS),
    type: z.string().describe('payment, payout, payoutReversal or refund'),
    orderId: z.string().describe("pat_…, wd_… or rfd_…, or the provider's id of an order that is not ours"),
    account: z
      .string()
      .nullable()
      .describe('Our account there, whose statement lists the order or should; null in the sandbox'),
    ourStatus: z.string().nullable(),
    ours: z.number().nullable(),
    theirs: z.number().nullable(),
    theirCurrency: z.string().nullable(),
    providerReference: z.string().nullable(),
    detectedAt: instant,
    closedAt: instant.nullable(),
    closedBy: z.string().nullable().describe('An operator; null if a later comparison no longer found it'),
    resolutionNote: z.string().nullable(),
  })
  .meta({ id: 'OpsDiscrepancy' });
export const ListedDiscrepancy = Discrepancy.extend(nameFields('closedBy')).meta({ id: 'OpsListedDiscrepancy' });

export const DayToCompare = z.strictObject({
  day,
  channel: channel.optional(),
  environment: environment.optional(),
  reason: reason.optional(),
});
