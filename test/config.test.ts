import { readConfig } from '../src/config.ts';

const REQUIRED = { DATABASE_URL: 'postgresql://localhost/meskot', TEMPORAL_ADDRESS: 'localhost:7233' };
const keyOf = (bytes: number): string => `a:${Buffer.alloc(bytes, 1).toString('base64')}`;

describe('the settings', () => {
  test.each([
    'DATABASE_POOL_MAX',
    'TEMPORAL_RETENTION_DAYS',
    'WEBHOOK_SENDS_PER_SUBSCRIPTION_MAX',
    'WEBHOOK_RESENDS_PER_SECOND',
  ])('refuse a %s of 0, with which nothing would be done', (name) => {
    expect(() => readConfig({ ...REQUIRED, [name]: '0' })).toThrow(name);
    expect(readConfig({ ...REQUIRED, [name]: '1' })).toMatchObject({ [name]: 1 });
  });

  test.each(['', '443,', '0', '65536', 'https', '443;8443'])('refuse "%s" as the ports of webhooks', (ports) => {
    expect(() => readConfig({ ...REQUIRED, WEBHOOK_PORTS: ports })).toThrow('WEBHOOK_PORTS');
  });

  test.each([31, 33])('refuse an encryption key of %i bytes, whose base64 is as long as that of 32', (bytes) => {
    expect(keyOf(bytes)).toHaveLength(keyOf(32).length);
    expect(() => readConfig({ ...REQUIRED, ENCRYPTION_KEYS: keyOf(bytes) })).toThrow('ENCRYPTION_KEYS');
    expect(() => readConfig({ ...REQUIRED, ENCRYPTION_KEYS: `${keyOf(32)},${keyOf(bytes)}` })).toThrow('32 bytes');
  });

  test('take encryption keys of 32 bytes, the first of which encrypts', () => {
    const { keyRing } = readConfig({ ...REQUIRED, ENCRYPTION_KEYS: `${keyOf(32)},${keyOf(32).replace('a:', 'b:')}` });
    expect([keyRing.currentId, ...keyRing.keys.keys()]).toEqual(['a', 'a', 'b']);
  });
});
