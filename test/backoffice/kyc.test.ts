import type { Environment, MerchantScope } from '../../src/lib/scope.ts';
import { submitFilledIn } from '../support/application.ts';
import { buildMerchant } from '../support/build.ts';
import { startBackOffice, type BackOffice, type Person } from './back-office.ts';

let backOffice: BackOffice;
let scope: MerchantScope;

beforeAll(async () => {
  backOffice = await startBackOffice();
});
beforeEach(async () => {
  scope = await buildMerchant(backOffice.database.db);
});
afterAll(() => backOffice.close());

/** Filled in and handed in with this key. */
const handIn = async (environment: Environment, actor?: string, at?: Date): Promise<void> =>
  submitFilledIn(backOffice.fixture, { ...scope, environment }, { actor, at });
const say = (verb: string, body: object, by: Person = backOffice.people.admin) =>
  backOffice.send('POST', `/api/ops/merchants/${scope.merchantId}/kyc/${verb}`, { key: by.key, body });
const statusIn = async (environment: Environment): Promise<string> => {
  const { body } = await backOffice.send(
    'GET',
    `/api/ops/merchants/${scope.merchantId}/kyc?environment=${environment}`,
  );
  return body.data.status;
};

test('a decision names its application: one for the sandbox changes nothing in live', async () => {
  await handIn('sandbox');
  await handIn('live');
  const reason = 'Read';
  for (const [verb, body] of [
    ['review', {}],
    ['approve', { submission: 1 }],
    ['reject', { submission: 1, reason }],
    ['request-info', { submission: 1, reason }],
  ] as const) {
    const unsaid = await say(verb, body);
    expect([verb, unsaid.status, unsaid.body.message]).toEqual([verb, 400, 'environment is required']);
  }
  expect((await say('approve', { environment: 'sandbox', submission: 1 })).status).toBe(200);
  expect([await statusIn('sandbox'), await statusIn('live')]).toEqual(['APPROVED', 'SUBMITTED']);
  const unsaid = await backOffice.send('GET', `/api/ops/merchants/${scope.merchantId}/kyc`);
  expect([unsaid.status, unsaid.body.message]).toEqual([400, 'environment is required']);
});

test('each decision has an audit row with the application before and after', async () => {
  await handIn('live');
  await say('review', { environment: 'live' });
  await say('request-info', { environment: 'live', submission: 1, reason: 'The licence has ended' });
  const { body } = await backOffice.send('GET', `/api/ops/audit?resourceId=${scope.merchantId}`);
  const stood = (status: string) => ({ status, tier: 0, submission: 1 });
  expect(body.data.toReversed()).toMatchObject([
    { action: 'kyc.review', before: stood('SUBMITTED'), after: stood('UNDER_REVIEW') },
    { action: 'kyc.request-info', before: stood('UNDER_REVIEW'), after: stood('MORE_INFO_NEEDED') },
  ]);
});

test('who has invited the merchant to the key of an application neither approves it nor gives it a higher tier', async () => {
  const { keyId } = await backOffice.invitedKey(scope.merchantId, { environment: 'live' });
  await handIn('live', keyId);
  const refused = await say('approve', { environment: 'live', submission: 1, tier: 1 });
  expect([refused.status, refused.body.message]).toEqual([
    409,
    `This application was submitted with the key ${keyId}, to which you invited the merchant: you cannot approve it, ` +
      'another operator has to approve it.',
  ]);
  const other = await backOffice.hire('admin');
  expect((await say('approve', { environment: 'live', submission: 1, tier: 1 }, other)).status).toBe(200);
  const toTier = async (tier: number, { key }: Person) => {
    const body = { environment: 'live', tier, reason: 'It has grown' };
    return backOffice.send('PUT', `/api/ops/merchants/${scope.merchantId}/kyc/tier`, { key, body });
  };
  expect((await toTier(2, backOffice.people.admin)).status).toBe(409);
  const raised = await toTier(2, other);
  expect(raised.status).toBe(202);
  const confirm = `/api/ops/proposals/${raised.body.data.proposalId}/confirm`;
  // Nor confirms it.
  expect((await backOffice.send('POST', confirm, { body: {} })).body.message).toContain('you cannot approve it');
  expect((await backOffice.send('POST', confirm, { key: (await backOffice.hire('admin')).key, body: {} })).status).toBe(
    200,
  );
  expect((await toTier(1, backOffice.people.admin)).status).toBe(202);
});

test('the sandbox decides a rehearsal by itself, whichever operator has sent the invitation', async () => {
  const { keyId } = await backOffice.invitedKey(scope.merchantId);
  await handIn('sandbox', keyId, new Date(backOffice.clock().getTime() - 60_000));
  expect(await statusIn('sandbox')).toBe('APPROVED');
});

test('concurrent revocations of one key have one audit row', async () => {
  const keys = `/api/ops/merchants/${scope.merchantId}/keys`;
  const { keyId } = await backOffice.invitedKey(scope.merchantId);
  const revoke = () => backOffice.send('POST', `${keys}/${keyId}/revoke`, { body: { reason: 'Leaked' } });
  const answers = await Promise.all(Array.from({ length: 10 }, revoke));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  expect(await backOffice.audited(keyId)).toEqual(['key.create', 'key.revoke']);
});
