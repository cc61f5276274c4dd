import { z } from 'zod';

import { requestListQuery } from '../access/operator-schema.ts';
import { plainText } from '../lib/fields.ts';
import { dateParam, pageQuery, statusParam } from '../lib/pagination.ts';
import { CHANNELS } from '../merchants/channels/channel.ts';

const SEARCH_CHARACTERS_MAX = 100;

/** `search`: what the text is compared with, in the lists of merchants and of operators. */
type Listed<Status, Stage> = {
  statuses: readonly Status[];
  stages: readonly Stage[];
  search: { merchants: string; operators: string };
};

/** The queries of the lists of withdrawals or refunds. */
export function outgoingQueries<Status extends string, Stage extends string>(listed: Listed<Status, Stage>) {
  const states = {
    status: statusParam(listed.statuses).optional(),
    stage: statusParam(listed.stages).optional().describe('Only PENDING ones in one of these stages'),
  };
  const { merchants, operators } = listed.search;
  return {
    merchants: z.strictObject({
      startDate: dateParam.optional(),
      endDate: dateParam.optional(),
      ...states,
      channel: z.enum(CHANNELS).optional(),
      search: z.string().min(1).max(SEARCH_CHARACTERS_MAX).optional().describe(merchants),
      ...pageQuery,
    }),
    operators: z.strictObject({
      ...requestListQuery,
      ...states,
      search: plainText(SEARCH_CHARACTERS_MAX).min(1).optional().describe(operators),
    }),
  };
}

/** Why one is still PENDING, for the merchant. */
const PENDING_REASONS = {
  AWAITING_CONFIRMATION:
    'Another person of the merchant has to confirm it in the portal, within 7 days of its request.',
  CREATED: 'It is about to be sent to the provider.',
  UNDER_REVIEW: 'It is being reviewed before it is sent.',
  SUBMITTED: 'The provider has it and has not paid it yet.',
  UNKNOWN: 'The provider does not know the outcome yet; it is queried again.',
} as const;

/** The stage while PENDING, and what is waited for; nulls after the end. */
export function presentStage(stage: keyof typeof PENDING_REASONS | 'COMPLETED') {
  if (stage === 'COMPLETED') return { stage: null, pendingReason: null };
  return { stage, pendingReason: PENDING_REASONS[stage] };
}
