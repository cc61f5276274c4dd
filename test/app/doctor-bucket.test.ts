import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';

import { anyFreePort } from '../../src/lib/ports.ts';
import { createCertificate } from '../support/certificates.ts';
import { type ObjectStore, startObjectStore } from '../support/object-store.ts';
import { buildStage, type Stage } from './doctor-stage.ts';

const BUCKET = 'meskot-doctor';
let stage: Stage;
let store: ObjectStore;
beforeAll(async () => {
  [stage, store] = await Promise.all([buildStage(), startObjectStore()]);
  await store.newBucket(BUCKET);
}, 120_000);
afterAll(async () => Promise.all([stage.close(), store.stop()]), 30_000);

/** The two lines of the bucket. */
async function linesOf(changes: Record<string, string>) {
  const { findings } = await stage.examine({ ...store.settings(BUCKET), ...changes }, { channel: ['CBE_BIRR'] });
  return findings.filter(({ name }) => name.startsWith('bucket of'));
}

test('a bucket that works is ok, in place of the disks, and nothing is left in it', async () => {
  const { findings } = await stage.examine(
    { ...store.settings(BUCKET), S3_PREFIX: 'shop/' },
    { channel: ['CBE_BIRR'] },
  );
  const files = findings.filter(({ name }) => /^(?:bucket|disk) of/.test(name));
  expect(files).toEqual(
    ['documents', 'reports'].map((kind) => ({
      name: `bucket of ${kind}`,
      status: 'ok',
      found: `A file was written to ${BUCKET}/shop/${kind}/, read, listed and removed.`,
      next: null,
    })),
  );
  expect(await store.keys(BUCKET)).toEqual({ files: [], uploads: [] });
}, 30_000);

test.each<[string, Record<string, string>, string]>([
  ['a wrong secret', { S3_SECRET_ACCESS_KEY: 'planted-secret' }, 'is not the secret of S3_ACCESS_KEY_ID'],
  ['an unknown key', { S3_ACCESS_KEY_ID: 'AKIAUNKNOWN' }, 'The store does not know S3_ACCESS_KEY_ID'],
  ['no such bucket', { S3_BUCKET: 'none-such' }, 'There is no bucket none-such'],
])(
  '%s is named, with what to do',
  async (_, changes, found) => {
    const lines = await linesOf(changes);
    expect(lines).toHaveLength(2);
    for (const line of lines) {
      expect(line).toMatchObject({ status: 'wrong', found: expect.stringContaining(found), next: expect.any(String) });
    }
    expect(stage.printed()).not.toContain('planted-secret');
  },
  30_000,
);

test('a store that refuses connections, is silent, or has a wrong certificate is named', async () => {
  const silent = createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const unknown = await stage.serve((_, response) => void response.end(), await createCertificate(null));
  const reasons: [string, RegExp][] = [
    [`http://127.0.0.1:${await anyFreePort()}`, /refuses connections/],
    [`http://127.0.0.1:${port}`, /does not answer in time/],
    [unknown.url, /TLS certificate of .* is not accepted/],
  ];
  for (const [endpoint, found] of reasons) {
    const lines = await linesOf({ S3_ENDPOINT: endpoint });
    expect(lines).toHaveLength(2);
    for (const line of lines) expect(line).toMatchObject({ status: 'wrong', found: expect.stringMatching(found) });
  }
  silent.close();
}, 60_000);
