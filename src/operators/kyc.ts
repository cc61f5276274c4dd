import { approveKyc, rejectKyc, requestMoreInfo, startReview } from '../kyc/decide.ts';
import type { ApplicationRow } from '../kyc/model.ts';
import { ownerOf, type Owner } from '../lib/owner.ts';
import { note, type Deed } from './audit.ts';
import { readMerchant } from './merchants.ts';
import type { Action } from './permits.ts';

/** What an operator says of an application to be verified. */
export type KycWord =
  | { says: 'review'; reason?: string | undefined }
  | { says: 'approve'; submission: number; tier?: number | undefined; reason?: string | undefined }
  | { says: 'reject'; submission: number; reason: string }
  | { says: 'request-info'; submission: number; reason: string };

/** Throws NOT_FOUND, INVALID_STATE (decided already, by somebody else too, or submitted again), VALIDATION_ERROR. */
export async function decideKyc(deed: Deed, owner: Owner, word: KycWord): Promise<ApplicationRow> {
  await readMerchant(deed.change.trx, owner.merchantId);
  const row = await move(deed, owner, word);
  await note(deed, {
    action: `kyc.${word.says}` satisfies Action,
    resourceType: 'kyc',
    resourceId: owner.merchantId,
    ...ownerOf(owner),
    after: { status: row.status, tier: row.tier, submission: row.submissions },
    reason: word.reason,
  });
  return row;
}

function move(deed: Deed, owner: Owner, word: KycWord): Promise<ApplicationRow> {
  const decision = { ...ownerOf(owner), operatorId: deed.operatorId, at: deed.at };
  switch (word.says) {
    case 'review':
      return startReview(deed.change, decision);
    case 'approve':
      return approveKyc(deed.change, { ...decision, submission: word.submission, tier: word.tier });
    case 'reject':
      return rejectKyc(deed.change, { ...decision, submission: word.submission, reason: word.reason });
    case 'request-info':
      return requestMoreInfo(deed.change, { ...decision, submission: word.submission, what: word.reason });
    default:
      return word satisfies never;
  }
}
