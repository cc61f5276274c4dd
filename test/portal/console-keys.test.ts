import { createOperatorKey } from '../../src/access/api-keys.ts';
import { rows } from '../../src/lib/db.ts';
import { LOCAL_PEPPER } from '../../src/lib/secrets.ts';
import { addOperator, signInOperator } from './console.ts';
import { openBrowser, usePortalService, type Browser } from './portal.ts';

const service = usePortalService();

const ME = '/api/ops/me';

test('at the console a key counts before the cookie, also a wrong one, and a bearer token that is no key does not', async () => {
  const operator = await signInOperator(service, 'admin');
  const { operatorId } = await addOperator(service.db, 'viewer');
  const { secret } = await service.db.transaction((trx) =>
    createOperatorKey({ trx, pepper: LOCAL_PEPPER, clock: () => new Date() }, { operatorId }),
  );
  const ask = async (from: Browser, headers: Record<string, string>) => (await from.send('GET', ME, { headers })).body;
  for (const headers of [{ 'x-api-key': secret }, { authorization: `Bearer ${secret}` }]) {
    for (const from of [openBrowser(service.consoleUrl), operator]) {
      expect((await ask(from, headers)).data).toMatchObject({ operatorId, session: null });
    }
    const wrong = {
      ...headers,
      ...('x-api-key' in headers ? { 'x-api-key': 'ok_1' } : { authorization: 'Bearer ok_1' }),
    };
    expect((await ask(operator, wrong)).error.code).toBe('INVALID_API_KEY');
  }
  // As a proxy with a sign-in of its own adds it.
  const ofProxy = { authorization: 'Bearer eyJhbGciOiJub25lIn0.e30.' };
  expect((await ask(operator, ofProxy)).data.operatorId).toBe(operator.operatorId);
  expect((await ask(openBrowser(service.consoleUrl), ofProxy)).error.code).toBe('INVALID_API_KEY');
});

test('a change by a key needs no page of ours and no code, also where a cookie is beside it; by the cookie it does', async () => {
  const operator = await signInOperator(service, 'viewer');
  const created = await operator.send('POST', '/api/ops/keys', { body: { name: 'First' } });
  const sql = `UPDATE user_session s SET step_up_at = NULL FROM user_account u WHERE u.id = s.user_id AND u.email = :email`;
  await rows(service.db, sql, operator);
  const foreign = { 'sec-fetch-site': 'cross-site' };
  const create = async (headers: Record<string, string>) => {
    const { status, body } = await operator.send('POST', '/api/ops/keys', { headers, body: { name: 'Next' } });
    return [status, body.error?.code ?? null];
  };
  expect(await create({ ...foreign, 'x-api-key': created.body.data.secret })).toEqual([201, null]);
  expect(await create(foreign)).toEqual([403, 'INSUFFICIENT_SCOPE']);
  expect(await create({})).toEqual([403, 'STEP_UP_REQUIRED']);
});
