import { readConfig } from '../../../src/config.ts';
import { nextCode } from '../../../src/demo/seed/authenticator.ts';
import { openDatabase } from '../../../src/lib/db.ts';

describe('a code of a demo operator', () => {
  const config = readConfig({ DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none', TEMPORAL_ADDRESS: 'nowhere:1' });
  const db = openDatabase({ url: config.DATABASE_URL, poolMax: 1, applicationName: 'test' });
  afterAll(() => db.destroy());

  test('is refused in production, before the database is read', async () => {
    await expect(nextCode(db, { ...config, production: true })).rejects.toThrow('MESKOT_MODE=production');
  });

  test('is refused for people who are not of the demo data', async () => {
    await expect(nextCode(db, config, 'sara@example.et')).rejects.toThrow('"sara@example.et" is no demo person');
  });
});
