import { z } from 'zod';

import { plainText } from '../lib/fields.ts';
import { dateParam, pageQuery, statusParam } from '../lib/pagination.ts';
import { SETTLEMENT_STATUSES } from '../settlements/states.ts';
import { WITHDRAWAL_STATUSES } from '../withdrawals/states.ts';
import { environment, id } from './schema.ts';

const SEARCH_CHARACTERS_MAX = 100;

function listQuery<Status extends string>(statuses: readonly Status[], search: string) {
  return z.strictObject({
    merchantId: id.optional(),
    environment: environment.optional(),
    status: statusParam(statuses).optional(),
    startDate: dateParam.optional(),
    endDate: dateParam.optional(),
    search: plainText(SEARCH_CHARACTERS_MAX).min(1).optional().meta({ description: search }),
    ...pageQuery,
  });
}

export const WithdrawalListQuery = listQuery(
  WITHDRAWAL_STATUSES,
  "An id, the merchant's requestId or the provider's reference, whole",
);
export const SettlementListQuery = listQuery(
  SETTLEMENT_STATUSES,
  "An id, the merchant's requestId or the bank's reference, whole",
);
