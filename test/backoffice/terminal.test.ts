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
const counted = async (table: string) => Number((await desk.database.db.knex()(table).count())[0]?.['count']);

test('a merchant and its keys are made, rotated and revoked as an operator, who is noted and stands with the keys', async () => {
  const { operatorId } = desk.people.admin;
  const as = ['--operator', operatorId];
  const { id: merchantId } = await json('merchants', 'create', 'Coffee', ...as);
  const first = await json('keys', 'create', '--merchant', merchantId, ...as);
  const next = await json('keys', 'rotate', first.id, ...as);
  await json('keys', 'revoke', first.id, '--reason', 'Rotated', ...as);
  await json('keys', 'revoke', first.id, ...as);
  const made = { createdBy: operatorId, secretHolders: [operatorId] };
  expect([await stored(first.id), await stored(next.id)]).toMatchObject([made, made]);
  const { body } = await desk.send('GET', `/api/ops/audit?merchantId=${merchantId}`);
  expect(body.data.toReversed()).toMatchObject([
    { action: 'merchant.create', operatorId, resourceId: merchantId, after: { name: 'Coffee' } },
    { action: 'key.create', operatorId, resourceId: first.id, environment: 'sandbox', after: { kind: 'secret' } },
    { action: 'key.rotate', operatorId, resourceId: first.id, after: { rotatedTo: next.id } },
    { action: 'key.revoke', operatorId, resourceId: first.id, reason: 'Rotated' },
  ]);
  expect(body.data).toHaveLength(4);
});

test('who rotates a key may know the next one, and so may who knew the one before', async () => {
  const other = await desk.hire('admin');
  const { id: merchantId } = await json('merchants', 'create', 'Tea', '--operator', other.operatorId);
  const first = await json('keys', 'create', '--merchant', merchantId, '--operator', other.operatorId);
  const next = await json('keys', 'rotate', first.id, '--operator', desk.people.admin.operatorId);
  expect(await stored(next.id)).toMatchObject({
    createdBy: desk.people.admin.operatorId,
    secretHolders: [desk.people.admin.operatorId, other.operatorId],
  });
});

test('without the role it is refused, without an operator it asks who acts, and nothing is made or noted', async () => {
  const { id: merchantId } = await json('merchants', 'create', 'Crafts', '--operator', desk.people.admin.operatorId);
  const made = await json('keys', 'create', '--merchant', merchantId, '--operator', desk.people.admin.operatorId);
  const before = [await counted('merchant'), await counted('apiKey'), await counted('operatorAudit')];
  for (const words of [
    ['merchants', 'create', 'Another'],
    ['keys', 'create', '--merchant', merchantId],
    ['keys', 'rotate', made.id],
    ['keys', 'revoke', made.id],
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
  expect(await stored(made.id)).toMatchObject({ revokedAt: null, rotatedTo: null });
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
