import PDFDocument from 'pdfkit';

import type { OperatorRole } from '../../src/http/route.ts';
import { sha256 } from '../../src/lib/crypto.ts';
import { first, rows } from '../../src/lib/db.ts';
import { newId } from '../../src/lib/ids.ts';
import { createCheck } from '../../src/payouts/check.ts';
import { createRefund } from '../../src/payouts/refunds/create.ts';
import { REFUND } from '../../src/payouts/refunds/refund.ts';
import { signInOperator, type SignedInOperator } from '../portal/console.ts';
import { submitFilledIn } from '../support/application.ts';
import { buildAttempt, buildSession, PAID } from '../support/build.ts';
import { failDelivery } from '../support/failed-delivery.ts';
import { linkAccount, requestSettlement } from '../support/settlements.ts';
import { openTab, type Tab, type TabOptions } from './browser.ts';
import { startPortal, type Portal } from './portal.ts';

type OpenOptions = Partial<TabOptions> & { language?: 'en' | 'am'; role?: OperatorRole };

/** The orders whose deliveries have failed. */
export const [FAILED_ORDER, OTHER_FAILED_ORDER] = ['ABY-02959', 'ABY-02960'] as const;

export type Console = Omit<Portal, 'open'> & {
  deliveryId: string;
  eventId: string;
  /** A tab in which an operator, of support unless given, has signed in, in this language, at a path of the console. */
  open: (path: string, options?: OpenOptions) => Promise<Tab & { operator: SignedInOperator }>;
};

/** Starts the console with its pages: a failed delivery, a settlement to approve, and an application of live to decide. */
async function startConsole(): Promise<Console> {
  const { open: _, ...portal } = await startPortal({ payments: 6 });
  const { db, fixture, scope, consoleUrl } = portal;
  await subscribe(portal);
  await buildFailedDelivery(portal, OTHER_FAILED_ORDER);
  const delivery = await buildFailedDelivery(portal, FAILED_ORDER);
  await linkAccount(fixture, scope);
  await requestSettlement(fixture, scope, { amount: 5_000n });
  await submitFilledIn(fixture, { ...scope, environment: 'live' });
  await storeDocuments(portal);
  const operators = new Map<OperatorRole, SignedInOperator>();
  const operatorOf = async (role: OperatorRole): Promise<SignedInOperator> => {
    const operator = operators.get(role) ?? (await signInOperator({ db, consoleUrl }, role));
    operators.set(role, operator);
    return operator;
  };
  return {
    ...portal,
    ...delivery,
    open: async (path, { language = 'en', role = 'support', ...options } = {}) => {
      const operator = await operatorOf(role);
      const tab = await openTab(portal.browser, { origins: [consoleUrl], ...options });
      const cookies = [...operator.cookies].map(([name, value]) => ({ name, value, url: consoleUrl }));
      await tab.page.context().addCookies(cookies);
      await tab.page.addInitScript(`localStorage?.setItem('meskot.language', '${language}')`);
      await tab.page.goto(consoleUrl + path);
      await tab.page.waitForSelector('main h1');
      return { ...tab, operator };
    },
  };
}

/** The console of the tests of a file, which runs in them and in the hooks that follow. */
export function useConsole(): Console {
  const console = {} as Console;
  beforeAll(async () => void Object.assign(console, await startConsole()), 240_000);
  afterAll(() => console.close?.());
  return console;
}

/** Gives each document a file, a PDF of one line. */
async function storeDocuments({ db, database, store }: Omit<Portal, 'open'>): Promise<void> {
  const documents = await rows<{ id: string; kind: string }>(db, 'SELECT id, kind FROM kyc_document');
  for (const { id, kind } of documents) {
    const bytes = await pdfOf(kind);
    const [key, digest] = [await store.save(id, bytes), sha256(bytes).toString('hex')];
    await database.asOwner(
      `UPDATE kyc_document SET storage_key = '${key}', sha256 = '${digest}', bytes = ${bytes.length} WHERE id = '${id}'`,
    );
  }
}

async function pdfOf(text: string): Promise<Buffer> {
  const document = new PDFDocument();
  document.fontSize(30).text(text).end();
  const chunks: Buffer[] = [];
  for await (const chunk of document) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** A subscription whose receiver is not there. */
export const subscribe = async ({ db, scope }: Omit<Portal, 'open'>, host = 'shop.example.et') =>
  rows(
    db,
    `INSERT INTO webhook_subscription (id, merchant_id, environment, url, event_types, secret, secret_hint)
     VALUES (:id, :merchantId, :environment, :url, '{payment.succeeded}', '\\x00', 'hint')`,
    { ...scope, id: newId('whs'), url: `https://${host}/hooks` },
  );

/** A paid order whose event could not be delivered. */
export async function buildFailedDelivery({ db, fixture, scope }: Omit<Portal, 'open'>, checkoutOrderNo: string) {
  const { sessionId } = await buildSession(fixture, scope, { checkoutOrderNo });
  const attemptId = await buildAttempt(fixture, { ...scope, sessionId });
  fixture.provider.returns(PAID);
  await fixture.checkAttempt(attemptId, { notifyWorkflow: false });
  const sql = 'SELECT id AS delivery_id, event_id FROM webhook_delivery ORDER BY created_at DESC, id DESC LIMIT 1';
  const delivery = await first<{ deliveryId: string; eventId: string }>(db, sql);
  if (!delivery) throw new Error('the payment has no delivery');
  await failDelivery(db, delivery.deliveryId);
  return delivery;
}

/** A refund of 40 birr over CBE Birr whose outcome its provider has not known for two hours. */
export async function buildUnknownRefund({ db, fixture, scope }: Omit<Portal, 'open'>, reference: string) {
  const { sessionId, transactionId } = await buildSession(fixture, scope, { amountSantim: 100_00n });
  const attemptId = await buildAttempt(fixture, { ...scope, sessionId }, { channel: 'CBE_BIRR' });
  fixture.provider.returns({ ...PAID, amountSantim: 100_00n });
  await fixture.checkAttempt(attemptId, { notifyWorkflow: false });
  const wanted = { transactionId, reference, amountSantim: 40_00n, returnFee: false, requestedBy: 'key_1' };
  const { row } = await fixture.runInTransaction((tx) => createRefund({ ...fixture, tx }, scope, wanted));
  fixture.provider.returnsForRefunds({ kind: 'unknown', reason: 'timeout', message: 'no answer' });
  await createCheck(fixture, REFUND)(row.id, { minIntervalMs: 0, notifyWorkflow: false });
  const submittedAt = new Date(Date.now() - 2 * 3_600_000);
  await db.knex()('payout').where({ id: row.id }).update({ submittedAt, leaseUntil: null });
  return { refundId: row.id, transactionId };
}
