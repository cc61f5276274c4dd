import { addPerson, openBrowser, PASSWORD, startPortalService } from './portal.ts';

test('wrong sign-ins are limited by account over all addresses and processes, and by address over all accounts', async () => {
  const settings = { RATE_LIMIT_FAILED_AUTH_PER_MINUTE: '3', TRUSTED_PROXY_COUNT: '1' };
  const limited = await startPortalService(settings);
  const another = await startPortalService({ ...settings, DATABASE_URL: limited.database.url });
  const address = await addPerson(limited.db, await limited.newMerchant(), 'owner');
  const tryAt = (url: string) => (ip: string, who: string, password: string) =>
    openBrowser(url).post('/sign-in', { email: who, password }, { 'x-forwarded-for': ip });
  const tryFrom = tryAt(limited.url);
  for (const ip of ['192.0.2.1', '192.0.2.2']) expect((await tryFrom(ip, address, 'no')).status).toBe(401);
  expect((await tryAt(another.url)('192.0.2.3', address, 'no')).status).toBe(401);
  const refused = await tryFrom('192.0.2.4', address.toUpperCase(), PASSWORD);
  expect(refused.status).toBe(429);
  expect(refused.text).toContain('Try again in 15 minutes.');
  for (const who of ['a@x.example', 'b@x.example', 'c@x.example']) await tryFrom('192.0.2.5', who, 'no');
  const ofAddress = await tryFrom('192.0.2.5', 'd@x.example', 'no');
  expect(ofAddress.status).toBe(429);
  expect(ofAddress.text).toContain(`Try again in ${ofAddress.headers.get('retry-after')} s.`);
  await another.close();
  await limited.close();
});

test('right sign-ins do not count towards the limit', async () => {
  const limited = await startPortalService({ RATE_LIMIT_FAILED_AUTH_PER_MINUTE: '2' });
  const address = await addPerson(limited.db, await limited.newMerchant(), 'owner');
  for (let count = 0; count < 4; count += 1) {
    expect((await openBrowser(limited.url).signIn(address)).status).toBe(303);
  }
  await limited.close();
});
