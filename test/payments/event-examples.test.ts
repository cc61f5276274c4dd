import { rows } from '../../src/lib/db.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import {
  buildAttempt,
  buildMerchant,
  buildSession,
  buildFixture,
  declined,
  PAID,
  type Fixture,
} from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { EVENT_CATALOGUE } from '../support/event-catalogue.ts';

type Facts = Record<string, unknown>;
const CUSTOMER = { customerName: 'Abebe Bikila', customerPhone: '251911000000' };

describe('the examples of the event catalogue', () => {
  let database: TestDatabase;
  let fixture: Fixture;
  let scope: MerchantScope;

  beforeAll(async () => {
    database = await createTestDatabase();
    scope = await buildMerchant(database.db);
  });
  beforeEach(() => {
    fixture = buildFixture(database.db);
  });
  afterAll(() => database.drop());

  const open = async () => buildSession(fixture, scope, CUSTOMER);
  const pays = async (sessionId: string) => buildAttempt(fixture, { ...scope, sessionId });

  const happen = {
    'checkout.completed': async () => paid(),
    'payment.succeeded': async () => paid(),
    'payment.created': async () => paid(),
    'checkout.failed': async () => {
      const { sessionId, transactionId } = await open();
      fixture.provider.returns(declined(false));
      await fixture.checkAttempt(await pays(sessionId), { notifyWorkflow: true });
      return transactionId;
    },
    'checkout.canceled': async () => {
      const { sessionId, transactionId } = await open();
      await fixture.checkAttempt(await pays(sessionId), { notifyWorkflow: true });
      await fixture.closeUnpaid(sessionId, 'CANCELLED');
      return transactionId;
    },
    'checkout.expired': async () => {
      const { sessionId, transactionId } = await open();
      await fixture.closeUnpaid(sessionId, 'EXPIRED');
      return transactionId;
    },
  };

  async function paid(): Promise<string> {
    const { sessionId, transactionId } = await open();
    fixture.provider.returns(PAID);
    await fixture.checkAttempt(await pays(sessionId), { notifyWorkflow: true });
    return transactionId;
  }

  test.each(Object.keys(happen) as (keyof typeof happen)[])(
    '%s has the shape of what is really sent',
    async (event) => {
      const resourceId = await happen[event]();
      const [sent] = await rows<{ payload: Buffer }>(
        database.db,
        'SELECT payload FROM webhook_event WHERE resource_id = :resourceId AND event = :event',
        { resourceId, event },
      );
      const data = JSON.parse(String(sent?.payload)).data;
      const example: Facts = EVENT_CATALOGUE[event].example;
      expect(shapeOf(example)).toEqual(shapeOf(data));
      const fixed = ({ status, version, transactionThrough }: Facts) => ({ status, version, transactionThrough });
      expect(fixed(example)).toEqual(fixed(data));
    },
  );
});

/** The members in their order, and the type of each. */
function shapeOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value === null ? null : typeof value;
  return Object.entries(value).map(([name, inner]) => [name, shapeOf(inner)]);
}
