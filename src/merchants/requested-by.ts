import { z } from 'zod';

import { listKeys, presentKey } from '../access/api-keys.ts';
import { auditOf, presentAudit } from '../access/audit.ts';
import { AuditEntry, MerchantKey } from '../access/operator-schema.ts';
import type { Queryable } from '../lib/db.ts';
import { readMerchant } from './operations.ts';

/** What operators see of everything that a merchant's key has requested, beside the resource itself. */
export const requestedByFields = {
  merchantName: z.string(),
  requestedBy: z.string().meta({ description: 'key_… or opr_…, which cannot approve it' }),
  requestedWith: MerchantKey.nullable().meta({ description: 'That key; its secret holders cannot approve it either' }),
  decisions: z.array(AuditEntry).meta({ description: 'The decisions of operators about it, oldest first' }),
};

/** The values of {@link requestedByFields}. Throws NOT_FOUND for an unknown merchant. */
export async function readRequestedBy(db: Queryable, row: { id: string; merchantId: string; requestedBy: string }) {
  const { id, merchantId, requestedBy } = row;
  const [merchant, [key], decisions] = await Promise.all([
    readMerchant(db, merchantId),
    listKeys(db, { id: requestedBy, merchantId }),
    auditOf(db, id),
  ]);
  return {
    merchantName: merchant.name,
    requestedBy,
    requestedWith: key ? presentKey(key) : null,
    decisions: decisions.map(presentAudit),
  };
}
