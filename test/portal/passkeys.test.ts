import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';

import { acceptPasskey } from '../../src/access/users/passkeys.ts';
import { rows, type Database } from '../../src/lib/db.ts';
import { newId } from '../../src/lib/ids.ts';
import { confirmTwoFactor, openBrowser, startPortalService, usePortalService, type Browser } from './portal.ts';

const portal = usePortalService();
let merchantId: string;

beforeAll(async () => {
  merchantId = await portal.newMerchant();
});

const OPTIONS = '/sign-in/passkey/options';
const STEP_UP = '/api/portal/security/step-up/passkey';

/** Flags: the person was present, and was verified by PIN, finger or face; the data has a new credential. */
const [PRESENT, VERIFIED, CREDENTIAL_INCLUDED] = [0x01, 0x04, 0x40];

type Device = { id: string; privateKey: KeyObject; cose: string };
type Signing = { challenge: string; origin?: string; flags?: number; counter?: number };

function newDevice(): Device {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const hex = (text: string): string => Buffer.from(text, 'base64url').toString('hex');
  // { 1: 2, 3: -7, -1: 1, -2: x, -3: y } in CBOR.
  const cose = `a5010203262001215820${hex(x)}225820${hex(y)}`;
  return { id: randomBytes(16).toString('base64url'), privateKey, cose };
}

const clientData = (type: string, { challenge, origin = portal.url }: Signing): Buffer =>
  Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));

/** The host, the flags and the number of signatures so far, which is 0 for devices that do not count. */
function authenticatorData({ flags = PRESENT | VERIFIED, counter = 0 }: Partial<Signing>): Buffer {
  const count = Buffer.alloc(4);
  count.writeUInt32BE(counter);
  return Buffer.concat([createHash('sha256').update('localhost').digest(), Buffer.from([flags]), count]);
}

/** What a browser returns of a device's signature. */
function signedBy({ id, privateKey }: Device, signing: Signing) {
  const [client, data] = [clientData('webauthn.get', signing), authenticatorData(signing)];
  const content = Buffer.concat([data, createHash('sha256').update(client).digest()]);
  return {
    id,
    clientDataJSON: client.toString('base64url'),
    authenticatorData: data.toString('base64url'),
    signature: sign('sha256', content, privateKey).toString('base64url'),
  };
}

/** What a browser returns of a new passkey, without an attestation of the device. */
function madeBy({ id, cose }: Device, signing: Signing) {
  const credential = Buffer.from(id, 'base64url');
  const data = Buffer.concat([
    authenticatorData({ flags: PRESENT | VERIFIED | CREDENTIAL_INCLUDED }),
    Buffer.alloc(16),
    Buffer.from([0, credential.length]),
    credential,
    Buffer.from(cose, 'hex'),
  ]);
  // { fmt: 'none', attStmt: {}, authData: … } in CBOR.
  const head = 'a363666d74646e6f6e656761747453746d74a068617574684461746158';
  const attestation = Buffer.concat([Buffer.from(head, 'hex'), Buffer.from([data.length]), data]);
  return {
    name: 'laptop',
    id,
    clientDataJSON: clientData('webauthn.create', signing).toString('base64url'),
    attestationObject: attestation.toString('base64url'),
    transports: ['usb'],
  };
}

type Person = Browser & { email: string; device: Device };

/** A person with two-factor on and a passkey, which has signed so many times. */
async function newPerson(counter = 0): Promise<Person> {
  const person = await portal.confirmed(merchantId, 'owner');
  return { ...person, device: await newDeviceOf(portal.db, person.email, counter) };
}

/** A device with a passkey of a person. */
async function newDeviceOf(db: Database, email: string, counter = 0): Promise<Device> {
  const device = newDevice();
  const sql = `INSERT INTO passkey (id, user_id, name, credential_id, public_key, transports, counter, created_at)
               SELECT :passkeyId, id, 'phone', :id, decode(:cose, 'hex'), '{internal}', :counter, now()
               FROM user_account WHERE email = :email`;
  const { id, cose } = device;
  await rows(db, sql, { passkeyId: newId('pky'), id, cose, counter, email });
  return device;
}

/** Signs a new challenge of the sign-in page. */
async function signIn(browser: Browser, device: Device, signing: Omit<Signing, 'challenge'> = {}) {
  const { challenge } = JSON.parse((await browser.post(OPTIONS, {})).text) as { challenge: string };
  const signed = signedBy(device, { ...signing, challenge });
  return { signed, response: await browser.post('/sign-in/passkey', { ...signed, next: '/live/balance' }) };
}

test('a passkey signs in without password and code, which counts as a code just entered', async () => {
  const { device, email } = await newPerson();
  const browser = openBrowser(portal.url);
  const { response, signed } = await signIn(browser, device);
  expect([response.status, response.headers.get('location')]).toEqual([303, '/live/balance']);
  const { data } = (await browser.send('GET', '/api/portal/me')).body;
  expect(data).toMatchObject({ user: { email }, twoFactor: { stepUpUntil: expect.any(String) } });
  expect((await browser.send('GET', '/api/portal/security/passkeys')).body.data).toEqual([
    {
      passkeyId: expect.stringMatching(/^pky_/),
      name: 'phone',
      createdAt: expect.any(String),
      lastUsedAt: expect.any(String),
    },
  ]);
  // The challenge has been used.
  expect((await openBrowser(portal.url).post('/sign-in/passkey', signed)).status).toBe(401);
});

test.each([
  ['of another site', { origin: 'http://localhost.example', counter: 8 }],
  ['without a verification of the person', { flags: PRESENT, counter: 8 }],
  ['whose counter goes back, as of a copied device', { counter: 7 }],
] as const)('a signature %s opens nothing', async (_name, signing) => {
  const { device } = await newPerson(7);
  const browser = openBrowser(portal.url);
  const { response } = await signIn(browser, device, signing);
  expect([response.status, response.headers.getSetCookie()]).toEqual([401, []]);
  expect(response.text).toContain('This passkey is of no account here');
});

test('a signature by another key, of no passkey, or that is none opens nothing', async () => {
  const [one, other] = [await newPerson(), await newPerson()];
  const browser = openBrowser(portal.url);
  for (const device of [
    { ...one.device, privateKey: other.device.privateKey },
    { ...one.device, id: 'AAAA' },
    { ...one.device, id: 'not base64url!' },
  ]) {
    expect((await signIn(browser, device)).response.status).toBe(401);
  }
  expect((await browser.post('/sign-in/passkey', {})).status).toBe(401);
});

test('an error of the database is not taken for a wrong passkey', async () => {
  const [{ device }, browser] = [await newPerson(), openBrowser(portal.url)];
  const options = JSON.parse((await browser.post(OPTIONS, {})).text) as { challenge: string };
  const accept = async () =>
    portal.db.transaction(async (trx) => {
      await rows(trx, `SET LOCAL lock_timeout = '50ms'`);
      return acceptPasskey(trx, portal.url, { userId: null, signed: signedBy(device, options), at: new Date() });
    });
  await portal.db.transaction(async (trx) => {
    await rows(trx, `SELECT FROM user_token WHERE purpose = 'passkey' FOR UPDATE`);
    await expect(accept()).rejects.toMatchObject({ code: '55P03' });
  });
  expect(await accept()).toMatch(/^usr_/);
});

test('an address that asks for many challenges gets no more; sign-ins with a passkey do not count', async () => {
  const limited = await startPortalService({ RATE_LIMIT_FAILED_AUTH_PER_MINUTE: '3' });
  const browser = openBrowser(limited.url);
  const options = async (): Promise<number> => (await browser.post(OPTIONS, {})).status;
  const device = await newDeviceOf(limited.db, (await limited.confirmed(await limited.newMerchant(), 'owner')).email);
  for (let count = 0; count < 4; count += 1) {
    expect((await signIn(browser, device, { origin: limited.url })).response.status).toBe(303);
  }
  for (let count = 0; count < 3; count += 1) expect(await options()).toBe(200);
  expect(await options()).toBe(429);
  await limited.close();
});

test('the page of a passkey that was not accepted leads back to the sign-in when it is read again', async () => {
  const again = await openBrowser(portal.url).send('GET', '/sign-in/passkey?next=%2Flive%2Fbalance&lang=am');
  expect([again.status, again.headers.get('location')]).toEqual([303, '/sign-in?next=%2Flive%2Fbalance']);
});

test('another site gets no challenge and sends no signature', async () => {
  const browser = openBrowser(portal.url);
  const foreign = { 'sec-fetch-site': 'cross-site' };
  expect((await browser.post(OPTIONS, {}, foreign)).status).toBe(403);
  expect((await browser.post('/sign-in/passkey', {}, foreign)).status).toBe(403);
});

test('a step-up takes a passkey of the same person, signed for this step-up', async () => {
  const [one, other] = [await newPerson(), await newPerson()];
  await rows(portal.db, `UPDATE user_session SET step_up_at = NULL`);
  const begin = async ({ send }: Browser) => (await send('POST', `${STEP_UP}-options`)).body.data;
  const options = await begin(one);
  expect(options.allowCredentials).toEqual([{ id: one.device.id, transports: ['internal'], type: 'public-key' }]);
  const tries = [
    signedBy(other.device, { ...options }),
    signedBy(one.device, { ...(await begin(other)) }),
    signedBy(one.device, { ...JSON.parse((await one.post(OPTIONS, {})).text) }),
  ];
  for (const body of tries) {
    const refused = await one.send('POST', STEP_UP, { body });
    expect([refused.status, refused.body.error.details[0].field]).toEqual([400, 'signature']);
  }
  expect((await one.send('POST', '/api/portal/security/recovery-codes')).body.error.code).toBe('STEP_UP_REQUIRED');
  const body = signedBy(one.device, { ...(await begin(one)) });
  expect((await one.send('POST', STEP_UP, { body })).status).toBe(200);
  expect((await one.send('POST', '/api/portal/security/recovery-codes')).status).toBe(201);
});

test('a removed passkey ends other sessions and opens nothing, and turning two-factor off removes all', async () => {
  const [one, other] = [await newPerson(), await newPerson()];
  const [passkey] = (await one.send('GET', '/api/portal/security/passkeys')).body.data;
  const path = `/api/portal/security/passkeys/${passkey.passkeyId}/remove`;
  expect((await other.send('POST', path)).status).toBe(404);
  const lost = openBrowser(portal.url);
  expect((await signIn(lost, one.device)).response.status).toBe(303);
  expect((await one.send('POST', path)).status).toBe(200);
  expect((await lost.send('GET', '/api/portal/me')).status).toBe(401);
  expect((await one.send('GET', '/api/portal/me')).status).toBe(200);
  expect((await other.send('POST', '/api/portal/security/two-factor/off')).status).toBe(200);
  for (const { device } of [one, other]) {
    expect((await signIn(openBrowser(portal.url), device)).response.status).toBe(401);
  }
});

test('a new passkey answers a challenge of the same person, once', async () => {
  const [one, other] = [await newPerson(), await newPerson()];
  const begin = async ({ send }: Browser) => (await send('POST', '/api/portal/security/passkeys/options')).body.data;
  const add = async (body: object) => one.send('POST', '/api/portal/security/passkeys', { body });
  const device = newDevice();
  expect((await add(madeBy(device, await begin(other)))).body.error.details[0].field).toBe('clientDataJSON');
  const made = madeBy(device, await begin(one));
  expect((await add(made)).body.data).toMatchObject({ name: 'laptop', lastUsedAt: null });
  expect((await add({ ...made, name: 'again' })).status).toBe(400);
  for (const known of [device, other.device]) {
    const twice = await add(madeBy(known, await begin(one)));
    expect([twice.status, twice.body.error.details[0].field]).toEqual([400, 'id']);
  }
  expect((await signIn(openBrowser(portal.url), device)).response.status).toBe(303);
});

test('a passkey is added with two-factor on and a code just entered, ten at most', async () => {
  const person = await portal.signedIn(merchantId, 'viewer');
  const begin = async () => person.send('POST', '/api/portal/security/passkeys/options');
  expect((await begin()).body.error.code).toBe('TWO_FACTOR_REQUIRED');
  await confirmTwoFactor(portal.db, person.email);
  expect((await begin()).body.data).toMatchObject({
    rp: { id: 'localhost' },
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  });
  const body = { name: 'phone', id: 'AAAA', clientDataJSON: 'e30', attestationObject: 'oA', transports: [] };
  const forged = await person.send('POST', '/api/portal/security/passkeys', { body });
  expect([forged.status, forged.body.error.details[0].field]).toEqual([400, 'clientDataJSON']);
  await rows(
    portal.db,
    `INSERT INTO passkey (id, user_id, name, credential_id, public_key, transports, counter, created_at)
     SELECT 'pky_' || n || id, id, 'phone', 'c' || n || id, '', '{}', 0, now()
     FROM user_account, generate_series(1, 9) n WHERE email = :email`,
    { email: person.email },
  );
  const challenges = [(await begin()).body.data, (await begin()).body.data];
  const added = await Promise.all(
    challenges.map((options) =>
      person.send('POST', '/api/portal/security/passkeys', { body: madeBy(newDevice(), options) }),
    ),
  );
  expect(added.map((response) => String(response.body.error?.code ?? response.status)).toSorted()).toEqual([
    '201',
    'INVALID_STATE',
  ]);
  expect((await begin()).body.error.code).toBe('INVALID_STATE');
});
