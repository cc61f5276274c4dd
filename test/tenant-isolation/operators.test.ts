import { requireRole } from '../../src/http/auth.ts';
import { OPERATOR_ROLES, type OperatorRole, type Route } from '../../src/http/route.ts';
import { rows } from '../../src/lib/db.ts';
import { newId } from '../../src/lib/ids.ts';
import { productDocument, productRoutes } from '../docs/document.ts';
import { signInOperator, type SignedInOperator } from '../portal/console.ts';
import { openBrowser, startPortalService, type Browser, type PortalService } from '../portal/portal.ts';
import { operationsOf, type Document, type Operation } from './contract.ts';
import { readRows } from './rows.ts';
import { pathWith, validBody, validQuery } from './samples.ts';

let service: PortalService;
let admin: SignedInOperator;

const operations = operationsOf(productDocument() as Document);
const ofOperators = operations.filter(({ by }) => by === 'operator');
const ofMerchants = operations.filter(({ by, path }) => by === 'key' || path.startsWith('/api/portal/team'));
const routes = new Map(productRoutes().map((route) => [route.operationId, route]));
const routeOf = ({ operationId }: Operation): Route => {
  const route = routes.get(operationId);
  if (!route) throw new Error(`no route ${operationId}`);
  return route;
};

beforeAll(async () => {
  service = await startPortalService();
  admin = await signInOperator(service, 'admin');
  await signInOperator(service, 'admin');
});
afterAll(() => service.close());

type Request = NonNullable<Parameters<Browser['send']>[2]>;

async function call(browser: Browser, operation: Operation, request: Request = {}) {
  const ids = Object.fromEntries(operation.pathNames.map((name) => [name, newId('req')]));
  const body = validBody(operation);
  const path = pathWith(operation, ids) + validQuery(operation);
  const { status, body: answer } = await browser.send(operation.method, path, {
    environment: null,
    ...(body !== undefined && { body }),
    ...request,
  });
  return { route: operation.name, status, code: answer?.error?.code };
}

type Expected = { status: number; code: string; request?: Request };

/** Calls every operation and expects one result, without any change. */
async function expectEach(browser: Browser, list: readonly Operation[], { request = {}, ...expected }: Expected) {
  const before = await readRows(service.db);
  for (const operation of list) {
    expect(await call(browser, operation, request)).toEqual({ route: operation.name, ...expected });
  }
  expect(await readRows(service.db)).toEqual(before);
}

const UNAUTHENTICATED = { status: 401, code: 'AUTHENTICATION_REQUIRED' };

test('without the cookie, or with another text in it, every route of operators is 401', async () => {
  expect(ofOperators.length).toBeGreaterThan(90);
  await expectEach(openBrowser(service.consoleUrl), ofOperators, UNAUTHENTICATED);
  const forged = openBrowser(service.consoleUrl);
  forged.cookies.set('meskot_console', 'forged');
  await expectEach(forged, ofOperators, UNAUTHENTICATED);
});

test("with the cookie of the portal every route of operators is 401, and with the console's every route of merchants at the portal", async () => {
  const owner = await service.signedIn(await service.newMerchant(), 'owner');
  const atConsole = openBrowser(service.consoleUrl);
  atConsole.cookies.set('meskot_console', owner.cookies.get('meskot_portal') ?? '');
  await expectEach(atConsole, ofOperators, UNAUTHENTICATED);
  const atPortal = openBrowser(service.url);
  atPortal.cookies.set('meskot_portal', admin.cookies.get('meskot_console') ?? '');
  await expectEach(atPortal, ofMerchants, { ...UNAUTHENTICATED, request: { environment: 'sandbox' } });
});

test('a change that another site, or none, has asked for is 403', async () => {
  const changes = ofOperators.filter(({ method }) => method !== 'GET');
  for (const headers of [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': '', origin: 'https://evil.example' },
    { 'sec-fetch-site': '' },
  ] as Record<string, string>[]) {
    await expectEach(admin, changes, { status: 403, code: 'INSUFFICIENT_SCOPE', request: { headers } });
  }
});

test("the console does not serve merchants' routes, nor the portal operators'", async () => {
  const owner = await service.signedIn(await service.newMerchant(), 'owner');
  for (const { browser, url, list } of [
    { browser: admin, url: service.consoleUrl, list: ofMerchants },
    { browser: owner, url: service.url, list: ofOperators },
  ]) {
    const cookie = [...browser.cookies].map((pair) => pair.join('=')).join('; ');
    for (const { name, method, path } of list) {
      const headers = { cookie, 'sec-fetch-site': 'same-origin', 'x-meskot-environment': 'sandbox' };
      const { status } = await fetch(url + path, { method, headers });
      expect({ route: name, isServed: status !== 404 && status !== 405 }).toEqual({ route: name, isServed: false });
    }
  }
});

test.each(OPERATOR_ROLES)('the role %s gets no further than it may', async (role) => {
  const operator = await signInOperator(service, role);
  for (const operation of ofOperators) {
    const refused = mayNot(role, operation);
    // An allowed change is not tried: other tests make each of them.
    if (!refused && operation.method !== 'GET') continue;
    // It has no end.
    if (operation.operationId === 'opsStreamChanges') continue;
    const { status, code } = await call(operator, operation);
    const isRefused = status === 403 && code === 'INSUFFICIENT_SCOPE';
    expect({ route: operation.name, status, isRefused }).toEqual({ route: operation.name, status, isRefused: refused });
    expect({ route: operation.name, isServed: status !== 401 && status < 500 }).toEqual({
      route: operation.name,
      isServed: true,
    });
  }
});

function mayNot(role: OperatorRole, operation: Operation): boolean {
  const { auth } = routeOf(operation);
  if (auth.by !== 'operator') throw new Error(`${operation.name} is not of operators`);
  try {
    requireRole({ role }, auth.roles);
    return false;
  } catch {
    return true;
  }
}

test('what approves money, a business or a setting, or gives access, needs a code of the last 5 minutes', async () => {
  const stepUp = ofOperators.filter((operation) => routeOf(operation).stepUp);
  expect(stepUp.map(({ operationId }) => operationId).toSorted()).toEqual([
    'opsAcceptPayment',
    'opsActivateCredentials',
    'opsAddCredentials',
    'opsApproveChannel',
    'opsApproveKyc',
    'opsApproveSettlement',
    'opsApproveWithdrawal',
    'opsBookLateCredit',
    'opsChangeFees',
    'opsChangeLimits',
    'opsChangeOperator',
    'opsChangeReviewPolicy',
    'opsChangeSettlementLimit',
    'opsChangeTier',
    'opsConfirmProposal',
    'opsCreateOperator',
    'opsCreateOwnKey',
    'opsDecideReceipt',
    'opsInviteMerchant',
    'opsInviteMerchantRotation',
    'opsInviteOperator',
    'opsInviteOwner',
    'opsResolveRefund',
    'opsResolveWithdrawal',
    'opsResumeMerchant',
    'opsRotateOwnKey',
    'opsSettlementSent',
    'opsVerifyBankAccount',
  ]);
  const sql = `UPDATE user_session s SET step_up_at = now() - interval '301 s' FROM user_account u
               WHERE u.id = s.user_id AND u.email = :email`;
  await rows(service.db, sql, { email: admin.email });
  await expectEach(admin, stepUp, { status: 403, code: 'STEP_UP_REQUIRED' });
});

test('an ended session is 401 at every route of operators', async () => {
  const ended = await signInOperator(service, 'admin');
  await ended.send('POST', '/api/portal/sign-out');
  await expectEach(ended, ofOperators, UNAUTHENTICATED);
});
