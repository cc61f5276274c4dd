import { approveKyc, lockApplication, rejectKyc, requestMoreInfo, startReview } from '../kyc/decide.ts';
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

/**
 * Throws NOT_FOUND, VALIDATION_ERROR, and INVALID_STATE: decided already, by somebody else too, submitted again, or to be
 * approved by who may have handed it in.
 */
export async function decideKyc(deed: Deed, owner: Owner, word: KycWord): Promise<ApplicationRow> {
  await readMerchant(deed.change.trx, owner.merchantId);
  const before = await lockApplication(deed.change.trx, owner);
  const row = await move(deed, owner, word);
  await note(deed, {
    action: `kyc.${word.says}` satisfies Action,
    resourceType: 'kyc',
    resourceId: owner.merchantId,
    ...ownerOf(owner),
    before: noted(before),
    after: noted(row),
    reason: word.reason,
  });
  return row;
}

function noted({ status, tier, submissions: submission }: ApplicationRow) {
  return { status, tier, submission };
}

function move(deed: Deed, owner: Owner, word: KycWord): Promise<ApplicationRow> {
  const { operatorId, keyId, at } = deed;
  const decision = { ...ownerOf(owner), operatorId, keyId, at };
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
