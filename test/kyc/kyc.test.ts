import { approveKyc } from '../../src/kyc/decide.ts';
import { startKycWorld, type KycWorld } from './world.ts';

let world: KycWorld;
beforeAll(async () => {
  world = await startKycWorld();
});
afterAll(() => world.close());

test('a merchant applies, is approved by an operator, and its live key works once it has paid in the sandbox', async () => {
  const applicant = await world.newApplicant();
  const channels = () => applicant.send('GET', '/api/checkout/channels');
  expect((await applicant.read()).body.data).toMatchObject({
    status: 'NOT_STARTED',
    environment: 'live',
    timeline: [],
  });
  const submitted = await applicant.apply('live');
  expect([submitted.status, submitted.body.data.status]).toEqual([200, 'SUBMITTED']);
  world.wait(4_000);
  expect((await channels()).body).toMatchObject({
    message: expect.stringContaining('SUBMITTED'),
    error: { code: 'KYC_REQUIRED', details: [{ field: 'kyc' }, { field: 'sandboxPayment' }] },
  });
  await world.runChange((change) =>
    approveKyc(change, { ...applicant.owner('live'), operatorId: 'opr_1', at: world.now() }),
  );
  world.wait(4_000);
  expect((await channels()).body.error.details).toEqual([
    { field: 'sandboxPayment', issue: expect.stringContaining('sandbox') },
  ]);
  await world.addSandboxPayment(applicant.merchantId, 'SUCCESS');
  world.wait(4_000);
  expect((await channels()).status).toBe(200);
  const { body } = await applicant.read();
  expect(body.data).toMatchObject({
    status: 'APPROVED',
    tier: { tier: 2, channels: null },
    liveKeys: { work: true, verificationApproved: true, sandboxPaymentMade: true },
  });
});
