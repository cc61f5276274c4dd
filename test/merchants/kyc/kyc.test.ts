import { decideKyc } from '../../../src/merchants/kyc/application.ts';
import { APPLICATION, pdf, startKycFixture, type Applicant, type KycFixture } from './fixture.ts';

let fixture: KycFixture;
let applicant: Applicant;
beforeAll(async () => {
  fixture = await startKycFixture();
});
beforeEach(async () => {
  applicant = await fixture.newApplicant();
});
afterAll(() => fixture.close());

const approve = (tier?: number) =>
  fixture.runInTransaction((tx) =>
    decideKyc(
      tx,
      { ...applicant.scope('live'), operatorId: 'opr_1', at: fixture.now() },
      { type: 'approve', submission: 1, tier },
    ),
  );
const channels = async () => {
  fixture.wait(4_000);
  return applicant.send('GET', '/api/checkout/channels');
};

test('a merchant applies, is approved by an operator, and its live key works once it has paid in the sandbox', async () => {
  expect((await applicant.read()).body.data).toMatchObject({
    status: 'NOT_STARTED',
    environment: 'live',
    timeline: [],
  });
  const submitted = await applicant.apply('live');
  expect([submitted.status, submitted.body.data.status]).toEqual([200, 'SUBMITTED']);
  const both = await channels();
  expect(both.body).toMatchObject({
    statusCode: 403,
    error: { code: 'KYC_REQUIRED', details: [{ field: 'kyc' }, { field: 'sandboxPayment' }] },
  });
  expect(both.body.message).toBe(
    'Live keys work once your verification is APPROVED; it is SUBMITTED: see GET /api/checkout/kyc, which works before, ' +
      'and one payment has succeeded in the sandbox; none has yet: make one with a sandbox key.',
  );
  await approve();
  const [missing] = (await channels()).body.error.details;
  expect(missing).toEqual({
    field: 'sandboxPayment',
    issue: expect.stringContaining('has succeeded in the sandbox'),
    code: 'no_sandbox_payment',
  });
  await fixture.addSandboxPayment(applicant.merchantId, 'FAILED');
  expect((await channels()).status).toBe(403);
  await fixture.addSandboxPayment(applicant.merchantId, 'SUCCESS');
  expect((await channels()).status).toBe(200);
  expect((await applicant.read()).body.data).toMatchObject({
    status: 'APPROVED',
    tier: { tier: 2, channels: null },
    liveKeys: { work: true, verificationApproved: true, sandboxPaymentMade: true },
  });
});

test('a sandbox payment alone enables no live key, and the error names what is missing', async () => {
  await fixture.addSandboxPayment(applicant.merchantId, 'SUCCESS');
  const { status, body } = await channels();
  expect([status, body.error.code]).toEqual([403, 'KYC_REQUIRED']);
  expect(body.error.details).toEqual([
    { field: 'kyc', issue: expect.stringContaining('it is NOT_STARTED'), code: 'not_verified' },
  ]);
});

test('a sandbox application is decided automatically after 5 s, and enables no live key', async () => {
  await fixture.addSandboxPayment(applicant.merchantId, 'SUCCESS');
  await applicant.apply('sandbox');
  fixture.wait(4_999);
  expect((await applicant.read('sandbox')).body.data.status).toBe('SUBMITTED');
  fixture.wait(1);
  const { data } = (await applicant.read('sandbox')).body;
  expect(data).toMatchObject({
    status: 'APPROVED',
    environment: 'sandbox',
    liveKeys: { work: false, verificationApproved: false, sandboxPaymentMade: true },
  });
  expect(data.timeline.at(-1)).toMatchObject({ kind: 'review.approved', by: 'sandbox', at: data.decidedAt });
  expect(Date.parse(data.decidedAt) - Date.parse(data.submittedAt)).toBe(5_000);
  expect((await channels()).body.error.code).toBe('KYC_REQUIRED');
  expect((await applicant.read('live')).body.data).toMatchObject({
    status: 'NOT_STARTED',
    documents: [],
    application: {},
  });
});

describe('the application', () => {
  test('is returned as saved, with a normalised phone, and each save replaces the one before', async () => {
    const saved = await applicant.put();
    expect(saved.status).toBe(200);
    expect(saved.body.data.application).toEqual({ ...APPLICATION, phone: '251911223344' });
    const { status, body } = await applicant.send('PUT', '/api/checkout/kyc', { body: { tin: '0000000001' } });
    expect([status, body.data.application]).toEqual([200, { tin: '0000000001' }]);
    expect((await applicant.read()).body.data.application).toEqual({ tin: '0000000001' });
  });

  test('lists everything that is missing, in the response and in the error of an incomplete submission', async () => {
    const documents = ['documents.TRADE_LICENCE', 'documents.TIN_CERTIFICATE', 'documents.OWNER_ID'];
    const { website: _, ...needed } = APPLICATION;
    expect((await applicant.read()).body.data.missing.toSorted()).toEqual(
      [...Object.keys(needed), ...documents].toSorted(),
    );
    await applicant.put({ tin: undefined, region: undefined, website: undefined });
    await applicant.upload('OWNER_ID', { bytes: pdf() });
    const { status, body } = await applicant.submit();
    expect([status, body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
    const missing = ['tin', 'region', 'documents.TRADE_LICENCE', 'documents.TIN_CERTIFICATE'];
    expect(body.error.details).toEqual(
      missing.map((field) => ({ field, issue: 'is missing', code: 'document_missing' })),
    );
    expect(body.message).toBe(`The application is not complete. Missing: ${missing.join(', ')}.`);
    expect((await applicant.read()).body.data.status).toBe('NOT_STARTED');
  });

  test.each([
    [{ tin: '123456789' }, 'tin', '10 digits'],
    [{ tin: '12345678901' }, 'tin', '10 digits'],
    [{ tin: '١٢٣٤٥٦٧٨٩٠' }, 'tin', '10 digits'],
    [{ tin: 12_345_678_90 }, 'tin', 'string'],
    [{ businessType: 'PLC' }, 'businessType', 'PRIVATE_LIMITED_COMPANY'],
    [{ region: 'ADDIS' }, 'region', 'ADDIS_ABABA'],
    [{ phone: '+14155550100' }, 'phone', 'Ethiopian'],
    [{ email: 'almaz' }, 'email', 'e-mail'],
    [{ website: 'javascript:alert(1)' }, 'website', 'https://'],
    [{ website: null }, 'website', ''],
    [{ legalName: '' }, 'legalName', ''],
    [{ legalName: '   ' }, 'legalName', ''],
    [{ legalName: 'x'.repeat(201) }, 'legalName', '200'],
    [{ tradeName: 'two\nlines' }, 'tradeName', 'control'],
    [{ address: 'x'.repeat(301) }, 'address', '300'],
    [{ tradeLicenceNumber: '../../etc/passwd' }, 'tradeLicenceNumber', 'letters'],
    [{ contactPerson: 'x'.repeat(101) }, 'contactPerson', '100'],
    [{ expectedMonthlyVolume: 1.005 }, 'expectedMonthlyVolume', 'decimals'],
    [{ expectedMonthlyVolume: 0 }, 'expectedMonthlyVolume', 'more than 0'],
    [{ status: 'APPROVED' }, 'status', 'is not a field'],
    [{ tier: 2 }, 'tier', 'is not a field'],
  ])('with %j is rejected, naming the field', async (changes, field, says) => {
    const { status, body } = await applicant.put(changes);
    expect([status, body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(body.error.details).toMatchObject([{ field, issue: expect.stringContaining(says) }]);
    expect((await applicant.read()).body.data.application).toEqual({});
  });

  test('is not echoed in errors', async () => {
    const { text } = await applicant.put({
      tin: '99887766',
      tradeLicenceNumber: '**planted**',
      address: `planted\n`,
      contactPerson: 'planted\n',
      phone: 'planted',
      email: 'planted',
    });
    expect(text).not.toMatch(/planted|99887766/);
  });

  test('cannot be changed, extended or submitted while it is decided, nor once it is approved', async () => {
    await applicant.apply('live');
    const attempts = async () => [
      await applicant.put({ tradeName: 'Other' }),
      await applicant.upload('OTHER', { bytes: pdf() }),
      await applicant.submit(),
    ];
    for (const { status, body } of await attempts()) {
      expect([status, body.error.code]).toEqual([409, 'INVALID_STATE']);
      expect(body.message).toContain('SUBMITTED');
    }
    await approve();
    for (const { status, body } of await attempts()) {
      expect([status, body.error.code]).toEqual([409, 'INVALID_STATE']);
      expect(body.message).toContain('APPROVED');
    }
    const { data } = (await applicant.read()).body;
    expect([data.application.tradeName, data.documents.length]).toEqual([APPLICATION.tradeName, 3]);
  });

  test('submitted by twenty concurrent requests is submitted once', async () => {
    await applicant.put();
    for (const kind of ['TRADE_LICENCE', 'TIN_CERTIFICATE', 'OWNER_ID']) await applicant.upload(kind, { bytes: pdf() });
    const answers = await Promise.all(Array.from({ length: 20 }, () => applicant.submit()));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(19);
    const steps = (await applicant.read()).body.data.timeline.map(({ kind }: { kind: string }) => kind);
    expect(steps.filter((kind: string) => kind === 'application.submitted')).toHaveLength(1);
  });

  test('is isolated between merchants, and requires the scope kyc:write', async () => {
    const stranger = await fixture.newApplicant('Stranger');
    await applicant.apply('live');
    const seen = await stranger.read();
    expect(seen.body.data).toMatchObject({ status: 'NOT_STARTED', documents: [], timeline: [], application: {} });
    const key = await fixture.newKey(applicant.scope('sandbox'), ['transactions:read', 'channels:read']);
    for (const [method, path] of [
      ['GET', 'kyc'],
      ['PUT', 'kyc'],
      ['POST', 'kyc/submit'],
      ['POST', 'kyc/documents?kind=OTHER'],
    ] as const) {
      const body = method === 'GET' ? undefined : JSON.stringify({});
      const headers = { 'x-api-key': key, 'content-type': 'application/json' };
      const answer = await fetch(`${fixture.url}/api/checkout/${path}`, { method, headers, ...(body && { body }) });
      const { error } = (await answer.json()) as { error: { code: string } };
      expect([answer.status, error.code]).toEqual([403, 'INSUFFICIENT_SCOPE']);
    }
  });
});
