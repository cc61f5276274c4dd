import type { MerchantScope } from '../../src/lib/scope.ts';
import { SubscriptionRow } from '../../src/webhooks/subscriptions/model.ts';
import { stubKey, type HttpResponse } from '../support/http.ts';
import { startWebhookApi } from './api.ts';
import { createFixture } from './fixture.ts';

const PATH = '/api/checkout/webhooks/subscriptions';

/** What a merchant requests. */
export const REQUESTED = {
  url: 'https://hooks.example.com/meskot',
  eventTypes: ['payment.succeeded', 'checkout.failed'],
};

export type CreatedSubscription = { subscriptionId: string; secret: string; secretHint: string; headers: string[] };

const keyOf = ({ merchantId, environment }: MerchantScope): string => stubKey(merchantId, environment);

export type SubscriptionsApi = Awaited<ReturnType<typeof startSubscriptionsApi>>;

/** The API of subscriptions, called by one merchant: by a new one after `renew`. Close it in afterAll. */
export async function startSubscriptionsApi() {
  const fixture = await createFixture();
  const server = await startWebhookApi(fixture);
  let scope = await fixture.newMerchant();

  async function send(request: string, body?: unknown, key = keyOf(scope)): Promise<HttpResponse> {
    const [method = '', path = ''] = request.split(' ');
    return server.send(method, PATH + path, { key, ...(body !== undefined && { body }) });
  }
  const create = async (fields: Record<string, unknown> = {}) => send('POST', { ...REQUESTED, ...fields });
  return {
    fixture,
    server,
    scope: () => scope,
    renew: async () => void (scope = await fixture.newMerchant()),
    send,
    create,
    createOne: async (fields: Record<string, unknown> = {}): Promise<CreatedSubscription> => {
      const { status, body } = await create(fields);
      expect(body).toMatchObject({ statusCode: 201 });
      expect(status).toBe(201);
      return body.data;
    },
    stored: async (id: string): Promise<SubscriptionRow> =>
      SubscriptionRow.query(fixture.db.knex()).findById(id).throwIfNotFound(),
    close: async () => {
      await server.close();
      await fixture.drop();
    },
  };
}
