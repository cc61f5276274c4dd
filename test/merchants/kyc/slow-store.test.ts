import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { rows } from '../../../src/lib/db.ts';
import { stopListening } from '../../../src/lib/ports.ts';
import { until } from '../../support/until.ts';
import { pdf, startKycFixture } from './fixture.ts';

test('uploads that wait for a store hold no transaction, and at most 20 wait; 503 once it is lost', async () => {
  let waiting = 0;
  const silent = createServer(() => void (waiting += 1)).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const endpoint = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const credentials = { accessKeyId: 'key', secretAccessKey: 'secret' };
  const bucket = { name: 'meskot', prefix: 'documents/', region: 'us-east-1', endpoint, pathStyle: true, credentials };
  const fixture = await startKycFixture(bucket);
  const applicant = await fixture.newApplicant();

  const uploads = Array.from({ length: 21 }, async () => applicant.upload('OTHER', { bytes: pdf() }));
  expect((await Promise.race(uploads)).status).toBe(503);
  await until('20 uploads to wait', () => waiting === 20);
  const open = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'`;
  expect(await rows(fixture.db, open)).toEqual([]);
  expect((await applicant.read()).status).toBe(200);

  const stopped = stopListening(silent);
  silent.closeAllConnections();
  for (const { status, body } of await Promise.all(uploads)) {
    expect([status, body.error.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
  }
  await stopped;
  expect((await applicant.read()).body.data.documents).toEqual([]);
  await fixture.close();
});
