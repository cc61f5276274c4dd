import { isDatabaseError, isUniqueViolation } from '../../lib/db-errors.ts';
import { first, insertRow, rows, updateRow, type Queryable, type Trx } from '../../lib/db.ts';
import { invalid, invalidState, notFound } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { lock } from '../../lib/lock.ts';
import { createToken, useToken } from './tokens.ts';
import type { User } from './users.ts';

/** Loaded when it is first used: it takes 0.4 s, which every start and command would pay for. */
const webAuthn = async () => import('@simplewebauthn/server');

/** What every device can sign with: ES256, EdDSA and RS256. */
const ALGORITHMS = [-7, -8, -257];
const PASSKEYS_MAX = 10;

export type Passkey = {
  id: string;
  userId: string;
  name: string;
  credentialId: string;
  publicKey: Buffer;
  transports: string[];
  counter: bigint;
  lastUsedAt: Date | null;
  removedAt: Date | null;
  createdAt: Date;
};

/** The host of the portal or the console, which a passkey is bound to: browsers offer it at no other one. */
const hostOf = (siteUrl: string): string => new URL(siteUrl).hostname;

/** A person's passkeys, oldest first. */
export async function listPasskeys(db: Queryable, userId: string): Promise<Passkey[]> {
  const sql = 'SELECT * FROM passkey WHERE user_id = :userId AND removed_at IS NULL ORDER BY created_at, id';
  return rows<Passkey>(db, sql, { userId });
}

const described = (passkeys: readonly Passkey[]) =>
  passkeys.map(({ credentialId: id, transports }) => ({ id, transports }));

/** A challenge is a token that is used once. */
async function createChallenge(trx: Trx, token: Parameters<typeof createToken>[1], at: Date) {
  return Buffer.from((await createToken(trx, token, at)).token, 'base64url');
}

/** Whether a challenge is open and of this person (null: of a sign-in); uses it. */
const useChallenge =
  (trx: Trx, { userId, ...of }: { purpose: 'passkey' | 'new-passkey'; userId: string | null; at: Date }) =>
  async (token: string): Promise<boolean> =>
    (await useToken(trx, { ...of, token }))?.userId === userId;

/** The library throws an error of its own for each fault of what a browser returned; the database's are none of those. */
function noResult(error: unknown): null {
  if (isDatabaseError(error)) throw error;
  return null;
}

/** The options with which a browser creates a passkey. Throws INVALID_STATE for a person who has ten. */
export async function newPasskeyOptions(trx: Trx, siteUrl: string, { user, at }: { user: User; at: Date }) {
  const present = await listBeforeNew(trx, user.id);
  const { generateRegistrationOptions } = await webAuthn();
  return generateRegistrationOptions({
    rpName: 'Meskot',
    rpID: hostOf(siteUrl),
    userID: Buffer.from(user.id),
    userName: user.email,
    userDisplayName: user.name,
    challenge: await createChallenge(trx, { purpose: 'new-passkey', userId: user.id }, at),
    excludeCredentials: described(present),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    supportedAlgorithmIDs: ALGORITHMS,
  });
}

/** A person's passkeys, to which no other is added before the commit. Throws INVALID_STATE when there are ten. */
async function listBeforeNew(trx: Trx, userId: string): Promise<Passkey[]> {
  await lock(trx, 'passkeys', userId);
  const present = await listPasskeys(trx, userId);
  if (present.length >= PASSKEYS_MAX) throw invalidState(`You have ${PASSKEYS_MAX} passkeys. Remove one first.`);
  return present;
}

/** What a browser returns of a created passkey, in base64url. */
export type NewPasskey = { id: string; clientDataJSON: string; attestationObject: string; transports: string[] };

const credentialOf = (id: string) => ({ id, rawId: id, type: 'public-key' as const, clientExtensionResults: {} });

/**
 * Stores a person's new passkey. Throws VALIDATION_ERROR for one that does not answer an open challenge of this person, or
 * was added before, and INVALID_STATE for a person who has ten.
 */
export async function addPasskey(
  trx: Trx,
  siteUrl: string,
  { userId, name, passkey, at }: { userId: string; name: string; passkey: NewPasskey; at: Date },
): Promise<Passkey> {
  const { id, clientDataJSON, attestationObject, transports } = passkey;
  const { verifyRegistrationResponse } = await webAuthn();
  const result = await verifyRegistrationResponse({
    response: { ...credentialOf(id), response: { clientDataJSON, attestationObject } },
    expectedChallenge: useChallenge(trx, { purpose: 'new-passkey', userId, at }),
    expectedOrigin: siteUrl,
    expectedRPID: hostOf(siteUrl),
    supportedAlgorithmIDs: ALGORITHMS,
  }).catch(noResult);
  if (!result?.registrationInfo) throw invalid('clientDataJSON', 'is not of an open request');
  await listBeforeNew(trx, userId);
  const { credential } = result.registrationInfo;
  const row = {
    id: newId('pky', at.getTime()),
    userId,
    name,
    credentialId: credential.id,
    publicKey: Buffer.from(credential.publicKey),
    transports,
    counter: BigInt(credential.counter),
    createdAt: at,
  };
  return insertRow<Passkey>(trx, 'passkey', row).catch((error: unknown) => {
    if (!isUniqueViolation(error, 'passkey_credential_id_key')) throw error;
    throw invalid('id', 'is that of a passkey that was added before');
  });
}

/** The options with which a browser signs with a passkey: one of the user; null: of anybody who has one, for a sign-in. */
export async function passkeyOptions(trx: Trx, siteUrl: string, { userId, at }: { userId: string | null; at: Date }) {
  const { generateAuthenticationOptions } = await webAuthn();
  return generateAuthenticationOptions({
    rpID: hostOf(siteUrl),
    userVerification: 'required',
    challenge: await createChallenge(trx, { purpose: 'passkey', userId }, at),
    allowCredentials: userId === null ? [] : described(await listPasskeys(trx, userId)),
  });
}

/** What a browser returns of a signature with a passkey, in base64url. */
export type PasskeySignature = Record<'id' | 'clientDataJSON' | 'authenticatorData' | 'signature', string>;

/**
 * The user whose passkey has signed an open challenge, which `userId` (null: a sign-in) has asked for; null for any other
 * signature. The device has verified the person by PIN, finger or face.
 */
export async function acceptPasskey(
  trx: Trx,
  siteUrl: string,
  { userId, signed, at }: { userId: string | null; signed: PasskeySignature; at: Date },
): Promise<string | null> {
  const { id, ...response } = signed;
  const sql = 'SELECT * FROM passkey WHERE credential_id = :id AND removed_at IS NULL FOR UPDATE';
  const passkey = await first<Passkey>(trx, sql, { id });
  if (!passkey || (userId !== null && passkey.userId !== userId)) return null;
  const { publicKey, counter } = passkey;
  const { verifyAuthenticationResponse } = await webAuthn();
  const result = await verifyAuthenticationResponse({
    response: { ...credentialOf(id), response },
    expectedChallenge: useChallenge(trx, { purpose: 'passkey', userId, at }),
    expectedOrigin: siteUrl,
    expectedRPID: hostOf(siteUrl),
    credential: { id, publicKey: new Uint8Array(publicKey), counter: Number(counter) },
  }).catch(noResult);
  if (!result?.verified) return null;
  const { newCounter } = result.authenticationInfo;
  await updateRow(trx, { table: 'passkey', id: passkey.id }, { counter: BigInt(newCounter), lastUsedAt: at });
  return passkey.userId;
}

/** Removes one passkey of a person. Throws NOT_FOUND. */
export async function removePasskey(trx: Trx, of: { id: string; userId: string; at: Date }): Promise<void> {
  const sql = `UPDATE passkey SET removed_at = :at WHERE id = :id AND user_id = :userId AND removed_at IS NULL RETURNING 1`;
  if ((await rows(trx, sql, of)).length === 0) throw notFound('passkey');
}

/** Removes all passkeys of a person. */
export async function removePasskeys(trx: Trx, of: { userId: string; at: Date }): Promise<void> {
  await rows(trx, 'UPDATE passkey SET removed_at = :at WHERE user_id = :userId AND removed_at IS NULL', of);
}
