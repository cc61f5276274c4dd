import { rows, type Queryable, type Trx } from '../../lib/db.ts';
import { found } from '../../lib/errors.ts';
import type { WorkItemSource } from '../../outbox/work-items.ts';
import type { LiveChannel } from '../settings.ts';

/** A set of credentials of a merchant's own account at a provider: a row of `provider_credential`. */
export type CredentialSet = {
  id: string;
  merchantId: string;
  channel: LiveChannel;
  /** Encrypted {@link AccountCredentials}. */
  credentials: Buffer;
  account: string;
  payoutAccount: string | null;
  fingerprint: string | null;
  expiresAt: Date | null;
  createdBy: string;
  confirmedBy: string | null;
  activeFrom: Date | null;
  retiresAt: Date | null;
  revokedBy: string | null;
  revokedAt: Date | null;
  createdAt: Date;
};

/** A channel of a merchant. */
export type Place = { merchantId: string; channel: LiveChannel };

export const CREDENTIAL_STATES = ['PENDING', 'ACTIVE', 'RETIRING', 'RETIRED', 'REVOKED'] as const;
export type CredentialState = (typeof CREDENTIAL_STATES)[number];

/** Until `activeFrom` an activated set is ACTIVE already; a revoked one is REVOKED at once, though used until `revokedAt`. */
export function stateOf({ activeFrom, retiresAt, revokedAt }: CredentialSet, at: Date): CredentialState {
  if (revokedAt) return 'REVOKED';
  if (!activeFrom) return 'PENDING';
  if (!retiresAt) return 'ACTIVE';
  return retiresAt <= at ? 'RETIRED' : 'RETIRING';
}

/** Whether a set is in effect at a time. */
export function isInEffect({ activeFrom, retiresAt, revokedAt }: CredentialSet, at: Date): boolean {
  const isOver = (end: Date | null): boolean => end !== null && end <= at;
  return activeFrom !== null && activeFrom <= at && !isOver(retiresAt) && !isOver(revokedAt);
}

/**
 * The sets that can be used for an order that was sent at `sentAt`, the best one first. Only sets of the same account
 * know the order: by another account a payout would be unknown, and be paid twice. Null: no set was in effect then, so the
 * order belongs to the platform's account. `sets`: newest first.
 */
export function chooseSets(
  sets: readonly CredentialSet[],
  { sentAt, now }: { sentAt: Date; now: Date },
): CredentialSet[] | null {
  const sender = sets.find((set) => isInEffect(set, sentAt));
  if (!sender) return null;
  const isSame = (set: CredentialSet): boolean =>
    set.account === sender.account && set.payoutAccount === sender.payoutAccount;
  const usable = sets.filter((set) => isInEffect(set, now) && isSame(set));
  return [...usable.filter((set) => set === sender), ...usable.filter((set) => set !== sender)];
}

const NEWEST_FIRST = 'ORDER BY coalesce(active_from, created_at) DESC, id DESC';

/** All sets of a channel of a merchant, newest first. */
export async function listCredentials(db: Queryable, { merchantId, channel }: Place): Promise<CredentialSet[]> {
  const sql = `SELECT * FROM provider_credential WHERE merchant_id = :merchantId AND channel = :channel ${NEWEST_FIRST}`;
  return rows<CredentialSet>(db, sql, { merchantId, channel });
}

/** The same in a transaction, in which no other one changes the sets of this merchant, or enters one. */
export async function lockCredentials(trx: Trx, place: Place): Promise<CredentialSet[]> {
  await rows(trx, 'SELECT 1 FROM merchant WHERE id = :merchantId FOR NO KEY UPDATE', place);
  return listCredentials(trx, place);
}

/** One of these sets. Throws NOT_FOUND. */
export function findSet(sets: readonly CredentialSet[], id: string): CredentialSet {
  return found(
    sets.find((one) => one.id === id),
    'credentials',
  );
}

/** A merchant's account, with the newest set that is in effect. */
export type MerchantAccount = { merchantId: string; setId: string; account: string; payoutAccount: string | null };

/** Every merchant's accounts on a channel that have a set in effect. */
export async function listAccounts(db: Queryable, { channel, at }: { channel: LiveChannel; at: Date }) {
  return rows<MerchantAccount>(
    db,
    `SELECT DISTINCT ON (account, payout_account, merchant_id) merchant_id, id AS set_id, account, payout_account
     FROM provider_credential
     WHERE channel = :channel AND active_from <= :at AND coalesce(retires_at, 'infinity') > :at
       AND coalesce(revoked_at, 'infinity') > :at
     ORDER BY account, payout_account, merchant_id, active_from DESC, id DESC`,
    { channel, at },
  );
}

/** The sets in effect of merchants' own accounts on a channel. */
export async function listSetsInEffect(db: Queryable, place: { channel: LiveChannel; at: Date }) {
  const ids = (await listAccounts(db, place)).map(({ setId }) => setId);
  return rows<CredentialSet>(db, 'SELECT * FROM provider_credential WHERE id = ANY (:ids) ORDER BY id', { ids });
}

/** A set as operators see it, without its values. */
export function presentCredentials(set: CredentialSet, at: Date) {
  const { id: credentialId, credentials: _, ...shown } = set;
  return { credentialId, ...shown, state: stateOf(set, at) };
}

/** How long before their end credentials have to be replaced. */
const ENDS_SOON = "interval '30 days'";

/** Credentials that another operator has to activate, and active ones that end within 30 days. */
export const CREDENTIAL_REVIEW_ITEMS: WorkItemSource = {
  kinds: ['CREDENTIALS_PENDING', 'CREDENTIALS_ENDING'],
  sql: `SELECT CASE WHEN p.active_from IS NULL THEN 'CREDENTIALS_PENDING' ELSE 'CREDENTIALS_ENDING' END AS kind,
               p.id, p.merchant_id, 'live' AS environment, NULL::bigint AS amount_santim,
               CASE WHEN p.active_from IS NULL THEN p.created_at ELSE p.expires_at - ${ENDS_SOON} END AS since,
               CASE WHEN p.active_from IS NULL THEN 'Credentials of ' || c.display_name || ' to activate'
                    ELSE 'Credentials of ' || c.display_name || ' end soon: replace them' END AS what,
               jsonb_build_object('channel', p.channel, 'account', p.account, 'payoutAccount', p.payout_account,
                                  'fingerprint', p.fingerprint, 'createdBy', p.created_by, 'expiresAt', p.expires_at) AS detail,
               NULL AS workflow_id
        FROM provider_credential p JOIN channel c ON c.id = p.channel
        WHERE p.revoked_at IS NULL AND p.retires_at IS NULL
          AND (p.active_from IS NULL OR p.expires_at <= CAST(:at AS timestamptz) + ${ENDS_SOON})`,
};
