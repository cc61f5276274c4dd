import { createOperator } from '../../src/access/operators.ts';
import { runKeys, runMerchants } from '../../src/app/commands/merchants-and-keys.ts';
import { DEMO_OPERATOR } from '../../src/demo/seed/operator.ts';
import { rows } from '../../src/lib/db.ts';
import { newId } from '../../src/lib/ids.ts';
import { createTestDatabase } from '../support/database.ts';
import { KEY_RING } from '../support/key-ring.ts';
import { PEPPER, startDesk, type Desk } from './desk.ts';

let desk: Desk;

beforeAll(async () => {
  desk = await startDesk();
});
afterAll(() => desk.close());

async function run([noun, ...args]: string[], db = desk.database.db) {
  let text = '';
  const config = { API_KEY_PEPPER: PEPPER, keyRing: KEY_RING, KYC_DOCUMENTS_DIR: 'unused' };
  const parts = { db, config, write: (part: string | Uint8Array) => void (text += part) };
  const exitCode = await (noun === 'keys' ? runKeys(args, parts) : runMerchants(args, parts));
  return { exitCode, text };
}
const json = async (...args: string[]) => JSON.parse((await run([...args, '--json'])).text);
const stored = async (keyId: string) => desk.database.db('apiKey').where({ id: keyId }).first();
const counted = async (table: string) => Number((await desk.database.db(table).count())[0]?.['count']);

async function accept(token: string): Promise<{ keyId: string; secret: string }> {
  return (await desk.send('POST', '/api/invitations/accept', { key: null, body: { token } })).body.data;
}

test('an operator creates a merchant, invites it to create and to rotate a key, and revokes one, each audited', async () => {
  const { operatorId } = desk.people.admin;
  const as = ['--operator', operatorId];
  const { id: merchantId } = await json('merchants', 'create', 'Coffee', ...as);
  const invited = await json('keys', 'create', '--merchant', merchantId, '--days', '7', ...as);
  expect(JSON.stringify(invited)).not.toContain('sk_test_');
  const first = await accept(invited.token);
  expect(first.secret).toMatch(/^sk_test_/);
  const next = await accept((await json('keys', 'rotate', first.keyId, '--overlap-hours', '1', ...as)).token);
  await json('keys', 'revoke', first.keyId, '--reason', 'Rotated', ...as);
  await json('keys', 'revoke', first.keyId, ...as);
  const stands = [await stored(first.keyId), await stored(next.keyId)];
  expect(stands).toMatchObject([{ createdBy: operatorId }, { createdBy: operatorId }]);
  expect(stands[0].rotatedTo).toBe(next.keyId);
  expect(Math.abs(stands[1].expiresAt - Date.now() - 7 * 86_400_000)).toBeLessThan(60_000);
  const { body } = await desk.send('GET', `/api/ops/audit?merchantId=${merchantId}`);
  const { keyId } = first;
  expect(body.data.toReversed()).toMatchObject([
    { action: 'merchant.create', operatorId, resourceId: merchantId, after: { name: 'Coffee' } },
    { action: 'key.invite', operatorId, resourceId: invited.invitationId },
    { action: 'key.create', operatorId, resourceId: keyId, environment: 'sandbox', after: { kind: 'secret' } },
    { action: 'key.invite', operatorId, after: { rotates: keyId } },
    { action: 'key.rotate', operatorId, resourceId: keyId, after: { rotatedTo: next.keyId } },
    { action: 'key.revoke', operatorId, resourceId: keyId, reason: 'Rotated' },
  ]);
  expect(body.data).toHaveLength(6);
});

test('without the role it is refused, without an operator it asks who acts, and nothing is made or noted', async () => {
  const { id: merchantId } = await json('merchants', 'create', 'Crafts', '--operator', desk.people.admin.operatorId);
  const { token } = await json('keys', 'create', '--merchant', merchantId, '--operator', desk.people.admin.operatorId);
  const { keyId } = await accept(token);
  const before = [await counted('merchant'), await counted('apiKey'), await counted('operatorAudit')];
  for (const words of [
    ['merchants', 'create', 'Another'],
    ['keys', 'create', '--merchant', merchantId],
    ['keys', 'rotate', keyId],
    ['keys', 'revoke', keyId],
  ]) {
    const refused = await run([...words, '--operator', desk.people.finance.operatorId]);
    expect([refused.exitCode, refused.text]).toEqual([
      3,
      expect.stringContaining('needs an operator with the role admin'),
    ]);
    expect((await run([...words, '--operator', newId('opr')])).exitCode).toBe(4);
    const unsaid = await run(words);
    expect([unsaid.exitCode, unsaid.text]).toEqual([2, expect.stringContaining('Say who acts: --operator opr_…')]);
  }
  expect([await counted('merchant'), await counted('apiKey'), await counted('operatorAudit')]).toEqual(before);
  expect(await stored(keyId)).toMatchObject({ revokedAt: null, rotatedTo: null });
});

test('where there is demo data its operator acts; where there is no operator at all nobody does, and nothing is noted', async () => {
  const empty = await createTestDatabase();
  try {
    const { db } = empty;
    expect((await run(['merchants', 'create', 'First'], db)).exitCode).toBe(0);
    expect(await rows(db, 'SELECT 1 FROM operator_audit')).toEqual([]);
    await db.transaction((trx) => createOperator(trx, DEMO_OPERATOR));
    expect((await run(['merchants', 'create', 'Second'], db)).exitCode).toBe(0);
    const noted = await rows(db, 'SELECT operator_id, action FROM operator_audit');
    expect(noted).toEqual([{ operatorId: DEMO_OPERATOR.id, action: 'merchant.create' }]);
  } finally {
    await empty.drop();
  }
});
