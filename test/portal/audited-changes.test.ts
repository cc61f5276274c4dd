import { addisDay, DAY_MS } from '../../src/lib/dates.ts';
import { rows } from '../../src/lib/db.ts';
import { failDelivery } from '../support/failed-delivery.ts';
import { ACCOUNT } from '../support/settlements.ts';
import { usePortalService, type Browser } from './portal.ts';

const portal = usePortalService();
let merchantId: string;
let owner: Browser;

beforeEach(async () => {
  merchantId = await portal.newMerchant('Abyssinia Coffee');
  owner = await portal.confirmed(merchantId, 'owner');
});

/** Of the merchant, the oldest first. */
const recorded = () =>
  rows(
    portal.db,
    `SELECT action, environment, resource_id, before, after FROM merchant_audit WHERE merchant_id = :merchantId
     ORDER BY occurred_at, id`,
    { merchantId },
  );

async function change(method: string, path: string, body?: unknown) {
  const response = await owner.send(method, path, { body });
  if (response.status >= 300) throw new Error(response.text);
  return response.body.data;
}

test('changes of channels, bank account and verification are recorded once', async () => {
  const file = new Blob(['%PDF-1.7 letter'], { type: 'application/pdf' });
  let document = '';
  for (const _ of ['once', 'again']) {
    await change('PATCH', '/api/checkout/channels/AWASH', { enabled: false });
    await change('PUT', '/api/checkout/bank-account', ACCOUNT);
    document = (await change('POST', '/api/checkout/kyc/documents?kind=OTHER', file)).documentId;
  }
  await change('PUT', '/api/checkout/bank-account', { ...ACCOUNT, bankCode: 'DASHEN' });
  await change('PUT', '/api/checkout/kyc', { legalName: 'Abyssinia Coffee PLC' });
  const { accountName } = ACCOUNT;
  const masked = { accountNumber: '*********6789', accountName };
  expect(await recorded()).toMatchObject([
    { action: 'channel.switch', resourceId: 'AWASH', before: { enabled: true }, after: { enabled: false } },
    { action: 'bank-account.link', before: null, after: { bankCode: 'CBE', ...masked } },
    { action: 'kyc.add-document', resourceId: document, after: { kind: 'OTHER' } },
    { action: 'bank-account.link', before: { bankCode: 'CBE' }, after: { bankCode: 'DASHEN', ...masked } },
    { action: 'kyc.save', after: { fields: ['legalName'] } },
  ]);
});

test('changes of the team are recorded in both environments', async () => {
  const { email } = await portal.signedIn(merchantId, 'viewer');
  const find = 'SELECT id AS user_id FROM user_account WHERE email = :email';
  const [member] = await rows<{ userId: string }>(portal.db, find, { email });
  const invited = { email: 'sara@people.example', role: 'support' };
  const { invitationId } = await change('POST', '/api/portal/team/invitations', invited);
  await change('POST', `/api/portal/team/invitations/${invitationId}/revoke`);
  const path = `/api/portal/team/${member?.userId}`;
  for (const _ of ['once', 'again']) await change('PATCH', path, { role: 'finance' });
  await change('DELETE', path);
  const about = { environment: null, resourceId: member?.userId };
  expect(await recorded()).toMatchObject([
    { action: 'member.invite', environment: null, resourceId: invitationId, after: invited },
    { action: 'member.revoke-invitation', environment: null, resourceId: invitationId, before: invited },
    { action: 'member.change-role', ...about, before: { role: 'viewer' }, after: { role: 'finance' } },
    { action: 'member.remove', ...about, before: { email, role: 'finance' }, after: null },
  ]);
});

test('a replaced secret and resends are recorded, and a count of what would be resent is not', async () => {
  const path = '/api/checkout/webhooks';
  const wanted = { url: 'https://shop.example.com/hooks', eventTypes: ['*'] };
  const { subscriptionId } = await change('POST', `${path}/subscriptions`, wanted);
  await change('POST', `${path}/subscriptions/${subscriptionId}/rotate`, { overlapSeconds: 60 });
  const { eventId } = await change('POST', `${path}/subscriptions/${subscriptionId}/test`, {});
  const find = 'SELECT id FROM webhook_delivery WHERE event_id = :eventId';
  const [delivery] = await rows<{ id: string }>(portal.db, find, { eventId });
  await failDelivery(portal.db, delivery?.id ?? '');
  const [startDate, endDate] = [addisDay(new Date(Date.now() - DAY_MS)), addisDay(new Date())];
  const failed = { status: 'FAILED', startDate, endDate };
  await change('POST', `${path}/events/resend`, { ...failed, dryRun: true });
  const { jobId } = await change('POST', `${path}/events/resend`, failed);
  await change('POST', `${path}/resend-jobs/${jobId}/cancel`);
  await change('POST', `${path}/events/${eventId}/resend`, { subscriptionId });
  expect(await recorded()).toMatchObject([
    { action: 'webhook.create', resourceId: subscriptionId },
    { action: 'webhook.rotate-secret', resourceId: subscriptionId, after: { overlapSeconds: 60 } },
    { action: 'event.resend-many', resourceId: jobId, after: { ...failed, matched: 1 } },
    { action: 'event.cancel-resend', resourceId: jobId },
    { action: 'event.resend', resourceId: eventId, after: { subscriptionId } },
  ]);
});
