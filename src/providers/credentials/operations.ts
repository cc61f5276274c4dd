import type { AuditContext, AuditedChange } from '../../access/audit.ts';
import { requireAnotherPerson } from '../../access/separation-of-duties.ts';
import type { KeyRing } from '../../lib/crypto.ts';
import { HOUR_MS } from '../../lib/dates.ts';
import { insertRow, updateRow } from '../../lib/db.ts';
import { invalidState } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import {
  findSet,
  lockCredentials,
  stateOf,
  type CheckOutcome,
  type CredentialScope,
  type CredentialSet,
} from './queries.ts';
import { identify, sealCredentials, type AccountCredentials } from './values.ts';

/** How long the set before stays usable for its orders, in hours: longer than the days that reconciliation reads again. */
export const OVERLAP_HOURS = { default: 120, max: 336 } as const;

/** From the decision until it applies: longer than processes cache credentials, so that all switch at one instant. */
export const APPLIES_AFTER_MS = 5_000;

type Changed = { set: CredentialSet; audit: AuditedChange | null };

/** Enters a set. Throws INVALID_STATE while another one of this channel is not activated. */
export async function addCredentials(
  { tx: { trx }, operatorId, at }: AuditContext,
  keyRing: KeyRing,
  { values, expiresAt, ...scope }: CredentialScope & { values: AccountCredentials; expiresAt: Date | null },
): Promise<Changed> {
  const pending = (await lockCredentials(trx, scope)).find((one) => stateOf(one, at) === 'PENDING');
  if (pending) {
    const message = `${pending.id} was entered before and is not active: activate it or revoke it first.`;
    throw invalidState(message);
  }
  const id = newId('pcr', at.getTime());
  const set = await insertRow<CredentialSet>(trx, 'provider_credential', {
    id,
    ...scope,
    credentials: sealCredentials(keyRing, id, values),
    ...identify(scope.channel, values),
    expiresAt,
    createdBy: operatorId,
    createdAt: at,
  });
  return { set, audit: auditOf(set, { after: withoutValues(set, at) }) };
}

/**
 * Activates a set that another operator has entered. The set before retires after `overlapHours`; until then it is used
 * for its own orders. Throws NOT_FOUND; INVALID_STATE, also unless the last check of the set was OK.
 */
export async function activateCredentials(
  context: AuditContext,
  { id, overlapHours, ...scope }: CredentialScope & { id: string; overlapHours: number },
): Promise<Changed> {
  const { tx, operatorId, at } = context;
  const sets = await lockCredentials(tx.trx, scope);
  const set = findSet(sets, id);
  const state = stateOf(set, at);
  if (state !== 'PENDING') {
    throw invalidState(`These credentials are ${state}: only PENDING ones can be activated.`);
  }
  const check = { environment: 'live', what: 'set of credentials', preparedBy: set.createdBy } as const;
  await requireAnotherPerson(tx.trx, context, { ...check, done: 'entered', verb: 'activate' });
  if (set.checkOutcome !== 'OK') {
    const found = set.checkOutcome === null ? 'were never checked' : `are ${set.checkOutcome} by the last check`;
    const next = 'Check them (meskot channels check-credentials), and activate them when the outcome is OK.';
    throw invalidState(`These credentials ${found}. ${next}`);
  }
  const activeFrom = new Date(at.getTime() + APPLIES_AFTER_MS);
  const retiresAt = new Date(activeFrom.getTime() + overlapHours * HOUR_MS);
  for (const before of sets.filter((one) => stateOf(one, at) === 'ACTIVE')) {
    await updateRow(tx.trx, { table: 'provider_credential', id: before.id }, { retiresAt });
  }
  return update(context, set, { activeFrom, confirmedBy: operatorId });
}

/** Stores whether the provider accepts a set. Throws NOT_FOUND. */
export async function recordCheck(
  context: AuditContext,
  { id, outcome, ...scope }: CredentialScope & { id: string; outcome: CheckOutcome },
): Promise<Changed> {
  const set = findSet(await lockCredentials(context.tx.trx, scope), id);
  return update(context, set, { checkedAt: context.at, checkOutcome: outcome });
}

/** Revokes a set, or discards one that was not activated. Idempotent. Throws NOT_FOUND. */
export async function revokeCredentials(context: AuditContext, { id, ...scope }: CredentialScope & { id: string }) {
  const set = findSet(await lockCredentials(context.tx.trx, scope), id);
  if (set.revokedAt) return { set, audit: null };
  const revokedAt = new Date(context.at.getTime() + APPLIES_AFTER_MS);
  return update(context, set, { revokedAt, revokedBy: context.operatorId });
}

async function update({ tx, at }: AuditContext, before: CredentialSet, changes: Partial<CredentialSet>) {
  const set = { ...before, ...changes };
  await updateRow(tx.trx, { table: 'provider_credential', id: set.id }, changes);
  const change = { before: withoutValues(before, at), after: withoutValues(set, at) };
  return { set, audit: auditOf(set, change) };
}

function auditOf({ id, merchantId }: CredentialSet, change: Pick<AuditedChange, 'before' | 'after'>): AuditedChange {
  const environment = 'live' as const;
  return { resourceType: 'providerCredentials', resourceId: id, merchantId, environment, ...change };
}

function withoutValues(set: CredentialSet, at: Date) {
  const { channel, account, payoutAccount, identifiers, checkOutcome } = set;
  return { channel, account, payoutAccount, identifiers, checkOutcome, state: stateOf(set, at) };
}
