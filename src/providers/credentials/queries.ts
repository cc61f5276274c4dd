import { rows, type Queryable, type Trx } from '../../lib/db.ts';
import { found } from '../../lib/errors.ts';
import type { LiveChannel } from '../../merchants/channels/channel.ts';
import type { WorkItemSource } from '../../outbox/work-items.ts';
import { EXPIRY_WARNING_DAYS } from '../expiry.ts';
import type { Identifiers } from './values.ts';

/** A set of credentials of a merchant's own account at a provider: a row of `provider_credential`. */
export type CredentialSet = {
  id: string;
  merchantId: string;
  channel: LiveChannel;
  /** Encrypted {@link AccountCredentials}. */
  credentials: Buffer;
  account: string;
  payoutAccount: string | null;
  /** Distinguishes the sets of an account. Not secret. */
  identifiers: Identifiers;
  /** When they were last checked with the provider, and the outcome. */
  checkedAt: Date | null;
  checkOutcome: CheckOutcome | null;
  expiresAt: Date | null;
  createdBy: string;
  confirmedBy: string | null;
  activeFrom: Date | null;
  retiresAt: Date | null;
  revokedBy: string | null;
  revokedAt: Date | null;
  createdAt: Date;
};

/** The channel of a merchant, to whose account there credentials belong. */
export type CredentialScope = { merchantId: string; channel: LiveChannel };

export const CREDENTIAL_STATES = ['PENDING', 'ACTIVE', 'RETIRING', 'RETIRED', 'REVOKED'] as const;
export type CredentialState = (typeof CREDENTIAL_STATES)[number];

export const CHECK_OUTCOMES = ['OK', 'REFUSED', 'UNREACHABLE'] as const;
export type CheckOutcome = (typeof CHECK_OUTCOMES)[number];

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

/** The set for new orders, also in the seconds before it is in effect. `sets`: newest first. */
export function findForNewOrders(sets: readonly CredentialSet[], at: Date): CredentialSet | undefined {
  return sets.find((set) => ['ACTIVE', 'RETIRING'].includes(stateOf(set, at)));
}

const NEWEST_FIRST = 'ORDER BY coalesce(active_from, created_at) DESC, id DESC';

/** All sets of a channel of a merchant, newest first. */
export async function listCredentials(
  db: Queryable,
  { merchantId, channel }: CredentialScope,
): Promise<CredentialSet[]> {
  const sql = `SELECT * FROM provider_credential WHERE merchant_id = :merchantId AND channel = :channel ${NEWEST_FIRST}`;
  return rows<CredentialSet>(db, sql, { merchantId, channel });
}

/** The same in a transaction, in which no other one changes the sets of this merchant, or enters one. */
export async function lockCredentials(trx: Trx, scope: CredentialScope): Promise<CredentialSet[]> {
  await rows(trx, 'SELECT 1 FROM merchant WHERE id = :merchantId FOR NO KEY UPDATE', scope);
  return listCredentials(trx, scope);
}

/** One of these sets. Throws NOT_FOUND. */
export function findSet(sets: readonly CredentialSet[], id: string): CredentialSet {
  return found(
    sets.find((one) => one.id === id),
    'credentials',
  );
}

/** A merchant's account, with the newest set that is in effect. */
export type MerchantAccount = Pick<
  CredentialSet,
  'id' | 'merchantId' | 'channel' | 'account' | 'payoutAccount' | 'expiresAt'
>;

/** At this time; with `since` at any time from then on. */
type InEffect = { at: Date; since?: Date; channel?: LiveChannel };

const newestInEffect = (columns: string): string =>
  `SELECT DISTINCT ON (channel, account, payout_account, merchant_id) ${columns}
   FROM provider_credential
   WHERE channel = coalesce(:channel, channel) AND active_from <= :at AND coalesce(retires_at, 'infinity') > :since
     AND coalesce(revoked_at, 'infinity') > :since
   ORDER BY channel, account, payout_account, merchant_id, active_from DESC, id DESC`;

const inEffect = ({ at, since = at, channel }: InEffect) => ({ at, since, channel: channel ?? null });

/** Every merchant's accounts that have, or had, a set in effect; of one channel if it is given. */
export async function listAccounts(db: Queryable, when: InEffect): Promise<MerchantAccount[]> {
  const columns = 'id, merchant_id, channel, account, payout_account, expires_at';
  return rows<MerchantAccount>(db, newestInEffect(columns), inEffect(when));
}

/** The newest set in effect of each account, with its values. */
export async function listSetsInEffect(db: Queryable, when: InEffect): Promise<CredentialSet[]> {
  return rows<CredentialSet>(db, newestInEffect('*'), inEffect(when));
}

/** The merchants that are approved for a live channel, and those of them without an account of their own. */
export async function countApproved(db: Queryable, channel: LiveChannel) {
  const sql = `SELECT count(*)::int AS approved,
                      (count(*) FILTER (WHERE NOT has_own_account(merchant_id, environment, channel)))::int AS without_own
               FROM merchant_channel WHERE environment = 'live' AND channel = :channel AND approval = 'APPROVED'`;
  const [counted] = await rows<{ approved: number; withoutOwn: number }>(db, sql, { channel });
  return counted ?? { approved: 0, withoutOwn: 0 };
}

/** A set as operators see it, without its values. */
export function presentCredentials(set: CredentialSet, at: Date) {
  const { id: credentialId, credentials: _, ...shown } = set;
  return { credentialId, ...shown, state: stateOf(set, at) };
}

const ENDS_SOON = `interval '${EXPIRY_WARNING_DAYS} days'`;

/** Credentials that another operator has to activate, and active ones that end within 30 days. */
export const CREDENTIAL_REVIEW_ITEMS: WorkItemSource = {
  kinds: ['CREDENTIALS_PENDING', 'CREDENTIALS_ENDING'],
  sql: `SELECT CASE WHEN p.active_from IS NULL THEN 'CREDENTIALS_PENDING' ELSE 'CREDENTIALS_ENDING' END AS kind,
               p.id, p.merchant_id, 'live' AS environment, NULL::bigint AS amount_santim,
               CASE WHEN p.active_from IS NULL THEN p.created_at ELSE p.expires_at - ${ENDS_SOON} END AS since,
               CASE WHEN p.active_from IS NULL THEN 'Credentials of ' || c.display_name || ' to activate'
                    ELSE 'Credentials of ' || c.display_name || ' end soon: replace them' END AS what,
               jsonb_build_object('channel', p.channel, 'account', p.account, 'payoutAccount', p.payout_account,
                                  'identifiers', p.identifiers, 'checkOutcome', p.check_outcome, 'checkedAt', p.checked_at,
                                  'createdBy', p.created_by, 'expiresAt', p.expires_at) AS detail,
               NULL AS workflow_id
        FROM provider_credential p JOIN channel c ON c.id = p.channel
        WHERE p.revoked_at IS NULL AND p.retires_at IS NULL
          AND (p.active_from IS NULL OR p.expires_at <= CAST(:at AS timestamptz) + ${ENDS_SOON})`,
};
