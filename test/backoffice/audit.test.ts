import pg from 'pg';

import { buildMerchant } from '../support/build.ts';
import { startBackOffice, type BackOffice } from './back-office.ts';

let backOffice: BackOffice;

beforeAll(async () => {
  backOffice = await startBackOffice();
});
afterAll(() => backOffice.close());

describe('the audit log', () => {
  test('cannot be changed, not even by the owner of the database', async () => {
    const { merchantId } = await buildMerchant(backOffice.database.db);
    await backOffice.send('POST', `/api/ops/merchants/${merchantId}/suspend`, { body: { reason: 'Fraud' } });
    const scope = new pg.Client({ connectionString: backOffice.database.superuserUrl });
    await scope.connect();
    try {
      for (const sql of [
        `UPDATE operator_audit SET reason = 'x'`,
        'DELETE FROM operator_audit',
        'TRUNCATE operator_audit',
        `SET session_replication_role = replica; DELETE FROM operator_audit`,
      ]) {
        await expect(scope.query(sql)).rejects.toThrow(/operator_audit is append-only|permission denied to set/);
        await scope.query('RESET session_replication_role');
      }
    } finally {
      await scope.end();
    }
    expect(await backOffice.audited(merchantId)).toEqual(['merchant.suspend']);
  });

  test('is filtered, and read page by page without a gap', async () => {
    const { merchantId } = await buildMerchant(backOffice.database.db);
    const path = `/api/ops/merchants/${merchantId}`;
    for (const verb of ['suspend', 'resume', 'suspend']) {
      await backOffice.send('POST', `${path}/${verb}`, { body: { reason: verb } });
    }
    const seen: string[] = [];
    for (let next: string | null = ''; next !== null;) {
      const cursor = next && `&cursor=${next}`;
      const { body } = await backOffice.send('GET', `/api/ops/audit?merchantId=${merchantId}&limit=1${cursor}`);
      seen.push(...body.data.map(({ action }: { action: string }) => action));
      next = body.pagination.nextCursor;
    }
    expect(seen).toEqual(['merchant.suspend', 'merchant.resume', 'merchant.suspend']);
    const only = await backOffice.send('GET', `/api/ops/audit?merchantId=${merchantId}&action=merchant.resume`);
    expect(only.body.pagination.total).toBe(1);
    const nobodys = `/api/ops/audit?merchantId=${merchantId}&operatorId=${backOffice.people.viewer.operatorId}`;
    expect((await backOffice.send('GET', nobodys)).body.data).toEqual([]);
    const past = `/api/ops/audit?merchantId=${merchantId}&startDate=2020-01-01&endDate=2020-01-02`;
    expect((await backOffice.send('GET', past)).body.data).toEqual([]);
    expect((await backOffice.send('GET', '/api/ops/audit?action=nonsense')).status).toBe(400);
  });
});
