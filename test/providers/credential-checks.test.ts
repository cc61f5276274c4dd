import type { BackOffice, Person } from '../backoffice/back-office.ts';
import { buildMerchant } from '../support/build.ts';
import { aTill, startCredentialOffice, type CredentialOffice } from './credential-office.ts';

let office: CredentialOffice;
let backOffice: BackOffice;
let other: Person;
let merchantId: string;
beforeAll(async () => {
  office = await startCredentialOffice();
  ({ backOffice } = office);
  other = await backOffice.hire('admin');
});
afterAll(() => office.close());
beforeEach(async () => {
  ({ merchantId } = await buildMerchant(backOffice.database.db));
  office.gateway.keys.clear();
});

const pathOf = (channel: string, rest = '') =>
  `/api/ops/merchants/${merchantId}/channels/${channel}/credentials${rest}`;
const post = (channel: string, rest: string, body: object = {}) =>
  backOffice.send('POST', pathOf(channel, rest), { body });
async function add(channel: string, body: object): Promise<string> {
  const { status, body: reply, text } = await post(channel, '', body);
  if (status !== 201) throw new Error(text);
  return reply.data.credentialId;
}
const check = async (channel: string, id: string) => {
  const { body } = await post(channel, `/${id}/check`);
  return [body.data.checkOutcome, body.message];
};
const activate = (channel: string, id: string) =>
  backOffice.send('POST', pathOf(channel, `/${id}/activate`), { key: other.key, body: {} });
const listed = async (channel: string) => {
  const { body } = await backOffice.send('GET', pathOf(channel), { key: other.key });
  return body.data.map((set: Record<string, unknown>) => `${set['account']} ${set['state']} ${set['checkOutcome']}`);
};

describe('a check', () => {
  test('that the provider accepts is stored, audited, and shown to the operator who activates', async () => {
    const id = await add('TELEBIRR', { credentials: office.telebirr });
    const appKey = office.telebirr['appKey']?.slice(-4);
    expect(await check('TELEBIRR', id)).toEqual([
      'OK',
      `telebirr has issued a token to the app key …${appKey}, and answers a signed query of an order that does not exist as it should (ORDER_NOT_EXIST).`,
    ]);
    expect(await listed('TELEBIRR')).toEqual(['800001 PENDING OK']);
    const { body } = await backOffice.send('GET', '/api/ops/queue?kind=CREDENTIALS_PENDING', { key: other.key });
    const item = body.data.items.find((one: { id: string }) => one.id === id);
    expect(item).toMatchObject({
      links: { check: expect.stringMatching(`${id}/check$`) },
      detail: { checkOutcome: 'OK', checkedAt: expect.any(String), identifiers: { credentials: { appId: '…0001' } } },
    });
    const audited = ['channel.add-credentials', 'channel.check-credentials'];
    expect(await backOffice.audited(id)).toEqual(audited);
    expect((await activate('TELEBIRR', id)).status).toBe(200);
    expect(JSON.stringify(await listed('TELEBIRR'))).toContain('ACTIVE OK');
  });

  test('that the provider refuses names the fields to compare, and prevents the activation', async () => {
    const id = await add('TELEBIRR', { credentials: { ...office.telebirr, appSecret: 'planted-secret' } });
    expect(await check('TELEBIRR', id)).toEqual([
      'REFUSED',
      'telebirr rejects credentials.appKey or credentials.appSecret (status 401). Compare both with what telebirr has issued.',
    ]);
    const { status, body } = await activate('TELEBIRR', id);
    expect([status, body.message]).toEqual([
      409,
      'These credentials are REFUSED by the last check. Check them (meskot channels check-credentials), and activate them when the outcome is OK.',
    ]);
    office.gateway.keys.set('1', ['right']);
    const till = await add('CBE_BIRR', { credentials: aTill('1', 'planted-wrong') });
    const names = 'credentials.token, credentials.hashKey, credentials.tillCode and credentials.companyName';
    expect(await check('CBE_BIRR', till)).toEqual([
      'REFUSED',
      `CBE Birr rejects a signed query (HTTP 401). Compare ${names} with what CBE Birr has issued.`,
    ]);
    office.gateway.keys.set('1', ['planted-wrong']);
    expect(await check('CBE_BIRR', till)).toEqual(['OK', expect.any(String)]);
    expect((await activate('CBE_BIRR', till)).status).toBe(200);
  });

  test('covers an account of payouts', async () => {
    office.gateway.keys.set('2', ['right']);
    const id = await add('CBE_BIRR', { credentials: aTill('2', 'right'), payoutCredentials: aTill('3', 'planted') });
    expect(await check('CBE_BIRR', id)).toEqual([
      'REFUSED',
      expect.stringContaining('Compare payoutCredentials.token, '),
    ]);
    office.gateway.keys.set('3', ['planted']);
    expect(await check('CBE_BIRR', id)).toEqual(['OK', expect.any(String)]);
    expect(office.gateway.seen.slice(-2).toSorted()).toEqual(['/payout-status 3 planted', '/status 2 right']);
  });

  test('without an answer in time is no acceptance, and leads to the doctor', async () => {
    const id = await add('CBE_BIRR', { credentials: aTill('4', 'silent') });
    office.gateway.keys.set('4', ['silent']);
    office.gateway.isSilent = true;
    expect(await check('CBE_BIRR', id)).toEqual([
      'UNREACHABLE',
      'CBE Birr does not answer (no response in time). See "CBE_BIRR service" of meskot doctor on the server.',
    ]);
    office.gateway.isSilent = false;
    expect((await activate('CBE_BIRR', id)).body.message).toMatch(
      /^These credentials are UNREACHABLE by the last check/,
    );
  });

  test('is not made of revoked credentials, or on a channel whose service is not configured', async () => {
    const id = await add('AWASH', { credentials: aTill('5') });
    const without = await post('AWASH', `/${id}/check`);
    expect([without.status, without.body.message]).toEqual([
      409,
      'AWASH is not configured: set AWASH_BASE_URL, and check again.',
    ]);
    await post('AWASH', `/${id}/revoke`, { reason: 'Wrong' });
    const revoked = await post('AWASH', `/${id}/check`);
    expect(revoked.body.message).toBe('These credentials are REVOKED: no order is sent with them again.');
    expect((await post('CBE_BIRR', `/${id}/check`)).status).toBe(404);
    expect(office.gateway.seen.filter((one) => one.includes(' 5 '))).toEqual([]);
  });
});

describe('credentials that new orders use', () => {
  const revoke = (id: string) => post('CBE_BIRR', `/${id}/revoke`, { reason: 'Contract ended' });
  async function activated(tillCode: string): Promise<string> {
    office.gateway.keys.set(tillCode, ['planted-hash-key']);
    const id = await add('CBE_BIRR', { credentials: aTill(tillCode) });
    await check('CBE_BIRR', id);
    expect((await activate('CBE_BIRR', id)).status).toBe(200);
    return id;
  }

  test('are revoked by two operators, and retiring ones by one', async () => {
    const [first, second] = [await activated('7'), await activated('8')];
    const proposed = await revoke(second);
    expect([proposed.status, proposed.body.data]).toEqual([
      202,
      expect.objectContaining({ action: 'channel.revoke-credentials', status: 'PENDING' }),
    ]);
    expect(await listed('CBE_BIRR')).toEqual(['8 ACTIVE OK', '7 RETIRING OK']);
    expect((await revoke(first)).status).toBe(200);
    expect(await listed('CBE_BIRR')).toEqual(['8 ACTIVE OK', '7 REVOKED OK']);
    const confirm = (key: string) =>
      backOffice.send('POST', `/api/ops/proposals/${proposed.body.data.proposalId}/confirm`, { key, body: {} });
    expect((await confirm(backOffice.people.admin.key)).body.message).toMatch(/^You proposed this: another operator/);
    const unavailable = 'the channel is NOT_CONFIGURED for the merchant: the platform has no account there';
    expect((await confirm(other.key)).body.message).toBe(`Credentials revoked; in 5 s ${unavailable}`);
    expect(await listed('CBE_BIRR')).toEqual(['8 REVOKED OK', '7 REVOKED OK']);
    expect((await revoke(second)).status).toBe(200);
  });

  test('are retiring ones once those after them are revoked', async () => {
    const [first, second] = [await activated('9'), await activated('10')];
    const { body } = await backOffice.confirmed('POST', pathOf('CBE_BIRR', `/${second}/revoke`), { reason: 'Leaked' });
    expect(body.message).toBe(`Credentials revoked; in 5 s new orders go to the account 9 (${first})`);
    expect((await revoke(first)).status).toBe(202);
    expect(await listed('CBE_BIRR')).toEqual(['10 REVOKED OK', '9 RETIRING OK']);
  });
});

test("the platform's account is named where new orders go there after a revocation", async () => {
  const platform = { CBE_BIRR_COMPANY_NAME: 'Meskot', CBE_BIRR_TILL_CODE: '100', CBE_BIRR_TOKEN: 'token-100' };
  const withPlatform = await startCredentialOffice({ ...platform, CBE_BIRR_HASH_KEY: 'platform' });
  const { backOffice: ours, gateway } = withPlatform;
  const { merchantId: owner } = await buildMerchant(ours.database.db);
  const path = `/api/ops/merchants/${owner}/channels/CBE_BIRR/credentials`;
  gateway.keys.set('11', ['planted-hash-key']);
  const added = await ours.send('POST', path, { body: { credentials: aTill('11') } });
  const id = String(added.body.data.credentialId);
  await ours.send('POST', `${path}/${id}/check`, { body: {} });
  const { key } = await ours.hire('admin');
  await ours.send('POST', `${path}/${id}/activate`, { key, body: {} });
  const { body } = await ours.confirmed('POST', `${path}/${id}/revoke`, { reason: 'Contract ended' });
  expect(body.message).toBe("Credentials revoked; in 5 s new orders go to the platform's account 100");
  await withPlatform.close();
});
