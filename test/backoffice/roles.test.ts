import type { OperatorRole } from '../../src/http/route.ts';
import { rows } from '../../src/lib/db.ts';
import { newId } from '../../src/lib/ids.ts';
import { startBackOffice, type BackOffice } from './back-office.ts';

const EVERYBODY: OperatorRole[] = ['viewer', 'support', 'finance', 'admin'];
const SUPPORT: OperatorRole[] = ['support', 'admin'];
const FINANCE: OperatorRole[] = ['finance', 'admin'];
const MONEY: OperatorRole[] = ['support', 'finance', 'admin'];
const ADMIN: OperatorRole[] = ['admin'];

/** Who may call what: written down once more, so that a role given by mistake is noticed. */
const MAY: Record<string, OperatorRole[]> = {
  opsListQueue: EVERYBODY,
  opsListStalled: EVERYBODY,
  opsListAudit: EVERYBODY,
  opsListDiscrepancies: EVERYBODY,
  opsListReceipts: EVERYBODY,
  opsListRefunds: EVERYBODY,
  opsGetReceipt: EVERYBODY,
  opsGetRefund: EVERYBODY,
  opsListReconciledDays: EVERYBODY,
  opsListMerchants: EVERYBODY,
  opsGetMerchant: EVERYBODY,
  opsInviteOwner: ['admin'],
  opsListMerchantsKeys: EVERYBODY,
  opsListMerchantKeys: EVERYBODY,
  opsGetFees: EVERYBODY,
  opsGetLimits: EVERYBODY,
  opsGetReviewPolicy: EVERYBODY,
  opsGetSettlementLimit: EVERYBODY,
  opsSearch: EVERYBODY,
  opsGetOverview: EVERYBODY,
  opsListTransactions: EVERYBODY,
  opsListDeliveries: EVERYBODY,
  opsGetDelivery: EVERYBODY,
  opsListWithdrawals: EVERYBODY,
  opsListSettlements: EVERYBODY,
  opsListHolidays: EVERYBODY,
  opsListMaintenance: EVERYBODY,
  opsListOperators: EVERYBODY,
  opsResendDelivery: SUPPORT,
  opsCancelDelivery: SUPPORT,
  opsDismissDelivery: SUPPORT,
  opsResendDeliveries: SUPPORT,
  opsGetResendJob: EVERYBODY,
  opsCancelResendJob: SUPPORT,
  opsListMerchantUsers: SUPPORT,
  opsGetKyc: SUPPORT,
  opsGetKycDocument: SUPPORT,
  opsReviewKyc: SUPPORT,
  opsRequestKycInfo: SUPPORT,
  opsGetTransaction: MONEY,
  opsAcceptPayment: MONEY,
  opsRejectPayment: MONEY,
  opsGetWithdrawal: FINANCE,
  opsApproveWithdrawal: FINANCE,
  opsRejectWithdrawal: FINANCE,
  opsResolveRefund: FINANCE,
  opsResolveWithdrawal: FINANCE,
  opsGetSettlement: FINANCE,
  opsApproveSettlement: FINANCE,
  opsRejectSettlement: FINANCE,
  opsSettlementReturned: FINANCE,
  opsBookLateCredit: FINANCE,
  opsDismissLateCredit: FINANCE,
  opsSettlementSent: FINANCE,
  opsSettlementCredited: FINANCE,
  opsSettlementFailed: FINANCE,
  opsImportBankFile: FINANCE,
  opsPreviewBankFile: FINANCE,
  opsRunReconciliation: FINANCE,
  opsCloseDiscrepancy: FINANCE,
  opsRecordRemittance: FINANCE,
  opsRecordUnallocated: FINANCE,
  opsRecordRecovery: FINANCE,
  opsRecordRefundRecovery: FINANCE,
  opsDecideReceipt: FINANCE,
  opsGetBankAccount: FINANCE,
  opsVerifyBankAccount: FINANCE,
  opsRejectBankAccount: FINANCE,
  opsApproveKyc: ADMIN,
  opsRejectKyc: ADMIN,
  opsChangeTier: ADMIN,
  opsCreateMerchant: ADMIN,
  opsSuspendMerchant: ADMIN,
  opsResumeMerchant: ADMIN,
  opsInviteMerchant: ADMIN,
  opsInviteMerchantRotation: ADMIN,
  opsRevokeMerchantKey: ADMIN,
  opsApproveChannel: ADMIN,
  opsSuspendChannel: ADMIN,
  opsPlanMaintenance: ADMIN,
  opsCancelMaintenance: ADMIN,
  opsListCredentials: ADMIN,
  opsAddCredentials: ADMIN,
  opsCheckCredentials: ADMIN,
  opsActivateCredentials: ADMIN,
  opsRevokeCredentials: ADMIN,
  opsChangeFees: ADMIN,
  opsChangeLimits: ADMIN,
  opsChangeReviewPolicy: ADMIN,
  opsChangeSettlementLimit: ADMIN,
  opsAddHoliday: ADMIN,
  opsChangeHoliday: ADMIN,
  opsRemoveHoliday: ADMIN,
  opsCreateOperator: ADMIN,
  opsChangeOperator: ADMIN,
  opsListOperatorKeys: ADMIN,
  opsInviteOperator: ADMIN,
  opsRevokeOperatorKey: ADMIN,
  opsListInvitations: ADMIN,
  opsRevokeInvitation: ADMIN,
  opsGetMe: EVERYBODY,
  opsListOwnKeys: EVERYBODY,
  opsCreateOwnKey: EVERYBODY,
  opsRotateOwnKey: EVERYBODY,
  opsRevokeOwnKey: EVERYBODY,
  opsListProposals: EVERYBODY,
  opsGetProposal: EVERYBODY,
  opsConfirmProposal: EVERYBODY,
  opsRejectProposal: EVERYBODY,
  opsWithdrawProposal: EVERYBODY,
};

let backOffice: BackOffice;

beforeAll(async () => {
  backOffice = await startBackOffice();
});
afterAll(() => backOffice.close());

/** An id of the kind without a row: a permitted operation answers 400 or 404, a forbidden one 403. */
const pathOf = (path: string): string =>
  path.replaceAll(/:(\w+)/g, (_, name: string) => (name === 'channel' ? 'TELEBIRR' : newId('mrc')));

test('each route can be called by the roles of its documentation and by no others', async () => {
  expect(backOffice.routes.map(({ operationId }) => operationId).toSorted()).toEqual(Object.keys(MAY).toSorted());
  for (const { operationId, method, path, upload } of backOffice.routes) {
    for (const role of EVERYBODY) {
      const body = method === 'GET' ? undefined : { surplus: 1 };
      const query = '?surplus=1';
      const answer = await backOffice.send(method, pathOf(path) + query, { key: backOffice.people[role].key, body });
      const may = MAY[operationId]?.includes(role);
      const status = may ? (upload ? 415 : 400) : 403;
      expect({ operationId, role, status: answer.status }).toEqual({ operationId, role, status });
      if (may) continue;
      expect(answer.body.error.code).toBe('INSUFFICIENT_SCOPE');
      expect(answer.body.message).toContain(`this one is ${role}`);
      for (const allowed of MAY[operationId] ?? []) expect(answer.body.message).toContain(allowed);
    }
  }
  expect(await backOffice.audited()).toEqual([]);
});

describe('an operator', () => {
  test('with a changed role has one audit row for it', async () => {
    const { operatorId } = await backOffice.hire('viewer');
    const path = `/api/ops/operators/${operatorId}`;
    const changed = await backOffice.send('PATCH', path, { body: { role: 'support', reason: 'Moved' } });
    expect(changed.body.data).toMatchObject({ role: 'support', active: true });
    await backOffice.send('PATCH', path, { body: { role: 'support' } });
    expect(await backOffice.audited(operatorId)).toEqual(['operator.change']);
    const { body } = await backOffice.send('GET', `/api/ops/audit?resourceId=${operatorId}`);
    expect(body.data[0]).toMatchObject({ before: { role: 'viewer' }, after: { role: 'support' }, reason: 'Moved' });
  });

  test('who is switched off is refused, and cannot be invited', async () => {
    const { operatorId, key } = await backOffice.hire('viewer');
    await backOffice.send('PATCH', `/api/ops/operators/${operatorId}`, { body: { active: false } });
    const answer = await backOffice.send('GET', '/api/ops/merchants', { key });
    expect([answer.status, answer.body.error.code]).toEqual([401, 'API_KEY_REVOKED']);
    const invited = await backOffice.send('POST', `/api/ops/operators/${operatorId}/invitations`, { body: {} });
    expect(invited.body.error.code).toBe('INVALID_STATE');
  });

  test('that is the last admin cannot lose that role', async () => {
    const { operatorId } = backOffice.people.admin;
    for (const body of [{ role: 'viewer' }, { active: false }]) {
      const refused = await backOffice.send('PATCH', `/api/ops/operators/${operatorId}`, { body });
      expect([refused.status, refused.body.error.code]).toEqual([409, 'INVALID_STATE']);
    }
    expect(await backOffice.audited(operatorId)).toEqual([]);
  });

  test('with the e-mail address of another operator, in any letter case, is rejected by name', async () => {
    const body = { name: 'Sara', email: 'Sara@Meskot.example', role: 'viewer' };
    expect((await backOffice.send('POST', '/api/ops/operators', { body })).status).toBe(201);
    const again = await backOffice.send('POST', '/api/ops/operators', {
      body: { ...body, email: 'sara@meskot.example' },
    });
    expect([again.status, again.body.error.code]).toEqual([409, 'DUPLICATE_REFERENCE']);
  });
});

describe("an operator's key", () => {
  test('is returned once to its holder, works, and ends when it is revoked or its time is over', async () => {
    const { operatorId, key } = await backOffice.hire('viewer');
    const path = '/api/ops/keys';
    const made = await backOffice.send('POST', path, { key, body: { name: 'Laptop', days: 1 } });
    const { secret, keyId } = made.body.data;
    expect(secret).toMatch(/^ok_[0-9A-Za-z]{75}$/);
    const listed = await backOffice.send('GET', path, { key });
    expect(listed.text).not.toContain(secret);
    expect(listed.body.data[0]).toMatchObject({ keyId, operatorId, name: 'Laptop', key: `ok_…${secret.slice(-4)}` });
    const asAdmin = await backOffice.send('GET', `/api/ops/operators/${operatorId}/keys`);
    expect(asAdmin.body.data).toEqual(listed.body.data);
    const reason = 'Lost';
    await backOffice.send('POST', `/api/ops/operators/${operatorId}/keys/${keyId}/revoke`, { body: { reason } });
    const revoked = await backOffice.send('GET', '/api/ops/merchants', { key: secret });
    expect([revoked.status, revoked.body.error.code]).toEqual([401, 'API_KEY_REVOKED']);
    expect(await backOffice.audited(keyId)).toEqual(['operator-key.create', 'operator-key.revoke']);

    const other = (await backOffice.send('POST', path, { key, body: {} })).body.data;
    await rows(
      backOffice.database.db,
      `UPDATE api_key SET expires_at = now() - interval '1 s' WHERE id = :keyId`,
      other,
    );
    const expired = await backOffice.send('GET', '/api/ops/merchants', { key: other.secret });
    expect([expired.status, expired.body.error.code]).toEqual([401, 'API_KEY_EXPIRED']);
  });

  test('that is rotated works on beside the next one for a while', async () => {
    const { operatorId, key } = await backOffice.hire('viewer');
    const path = '/api/ops/keys';
    const old = (await backOffice.send('POST', path, { key, body: { name: 'Laptop', days: 10 } })).body.data;
    const rotated = await backOffice.send('POST', `${path}/${old.keyId}/rotate`, { key, body: { overlapHours: 1 } });
    expect(rotated.body).toMatchObject({ statusCode: 201, data: { operatorId, name: 'Laptop' } });
    for (const one of [old.secret, rotated.body.data.secret]) {
      expect((await backOffice.send('GET', '/api/ops/merchants', { key: one })).status).toBe(200);
    }
    const listed = (await backOffice.send('GET', path, { key })).body.data;
    const [hourOn] = listed.filter(({ keyId }: { keyId: string }) => keyId === old.keyId);
    expect(Math.abs(Date.parse(hourOn.expiresAt) - Date.now() - 3_600_000)).toBeLessThan(60_000);
    await backOffice.send('POST', `${path}/${old.keyId}/revoke`, { key, body: { reason: 'Lost' } });
    const again = await backOffice.send('POST', `${path}/${old.keyId}/rotate`, { key, body: {} });
    expect([again.status, again.body.error.code]).toEqual([409, 'INVALID_STATE']);
    expect(await backOffice.audited(old.keyId)).toEqual([
      'operator-key.create',
      'operator-key.rotate',
      'operator-key.revoke',
    ]);
  });

  test('is neither created nor rotated by anybody else, not even an admin', async () => {
    const { operatorId, key } = await backOffice.hire('viewer');
    const { keyId } = (await backOffice.send('POST', '/api/ops/keys', { key, body: {} })).body.data;
    const theirs = `/api/ops/operators/${operatorId}/keys`;
    expect((await backOffice.send('POST', theirs, { body: {} })).status).toBe(405);
    expect((await backOffice.send('POST', `${theirs}/${keyId}/rotate`, { body: {} })).status).toBe(404);
    for (const verb of ['rotate', 'revoke']) {
      const body = verb === 'revoke' ? { reason: 'Lost' } : {};
      expect((await backOffice.send('POST', `/api/ops/keys/${keyId}/${verb}`, { body })).status).toBe(404);
    }
    expect(await backOffice.audited(keyId)).toEqual(['operator-key.create']);
  });

  test('with one mistyped character is no key, in either header', async () => {
    const { key } = backOffice.people.viewer;
    const typo = `${key.slice(0, -1)}${key.endsWith('a') ? 'b' : 'a'}`;
    expect((await backOffice.send('GET', '/api/ops/merchants', { key: typo })).body.error.code).toBe('INVALID_API_KEY');
    const ask = (headers: Record<string, string>) =>
      backOffice.server.send('GET', '/api/ops/merchants', { key: null, headers });
    expect((await ask({ authorization: `Bearer ${key}` })).status).toBe(200);
    expect((await ask({ authorization: `Bearer ${key}`, 'x-api-key': backOffice.people.admin.key })).status).toBe(401);
  });

  test('of another operator is not revoked under this one', async () => {
    const { key } = await backOffice.hire('viewer');
    const made = await backOffice.send('POST', '/api/ops/keys', { key, body: {} });
    const path = `/api/ops/operators/${backOffice.people.viewer.operatorId}/keys/${made.body.data.keyId}/revoke`;
    expect((await backOffice.send('POST', path, { body: { reason: 'x' } })).status).toBe(404);
  });
});
