import type { Bucket } from '../../lib/file-bucket.ts';
import { openFiles } from '../../lib/file-store.ts';
import { withTimeout } from '../../lib/timeout.ts';
import { check, codeOf, type DoctorParts, type Finding, ok, type Result, wrong } from './check.ts';
import { checkCertificate, ofNetworkFailure, serverOf, tryConnect } from './reach.ts';

const PROBE_MS = 8_000;
const CHECK_MS = 20_000;
const ACTIONS =
  's3:PutObject, s3:GetObject, s3:DeleteObject, s3:AbortMultipartUpload, s3:ListBucket and s3:ListBucketMultipartUploads';

/** The bucket of documents and reports, where there is one: writes, reads, lists and removes a file as the processes do. */
export async function checkBucket({ config: { files }, clock }: DoctorParts): Promise<Finding[]> {
  const each = Object.entries(files).map(async ([kind, place]) =>
    check(`bucket of ${kind}`, async () => (typeof place === 'string' ? null : probe(place, clock())), CHECK_MS),
  );
  return (await Promise.all(each)).flat();
}

async function probe(bucket: Bucket, now: Date): Promise<Result> {
  const url = bucket.endpoint ?? `https://s3.${bucket.region}.amazonaws.com`;
  const server = serverOf(url, 'S3_ENDPOINT');
  const failure = await tryConnect(server);
  if (failure) return ofNetworkFailure(failure.code, server);
  const certificate = url.startsWith('https:') ? await checkCertificate(server, { now }) : null;
  if (certificate?.status === 'wrong') return certificate;
  const tried = use(bucket).then(
    () => 'none',
    (error: unknown) => codeOf(error),
  );
  const code = (await withTimeout(tried, PROBE_MS)) ?? 'TIMEOUT';
  if (code === 'TIMEOUT') return ofNetworkFailure(code, server);
  if (code !== 'none') return REASONS[code]?.(bucket) ?? ofOther(code, server.host);
  if (certificate?.status === 'warning') return certificate;
  return ok(`A file was written to ${bucket.name}/${bucket.prefix}, read, listed and removed.`);
}

/** In a folder of its own, so that the list is short. */
async function use(bucket: Bucket): Promise<void> {
  const files = openFiles({ ...bucket, prefix: `${bucket.prefix}doctor/` });
  const name = await files.write(Buffer.from('written by meskot doctor'));
  await files.read(name);
  await files.listOlder(0);
  await files.remove(name);
}

/** By the codes of S3 and of its SDK. */
const REASONS: Readonly<Record<string, (bucket: Bucket) => Result>> = {
  NoSuchBucket: ({ name }) => wrong(`There is no bucket ${name}.`, 'Create it, or correct S3_BUCKET and S3_ENDPOINT.'),
  InvalidAccessKeyId: () => wrong('The store does not know S3_ACCESS_KEY_ID.', 'Correct it, or make a new key.'),
  SignatureDoesNotMatch: () =>
    wrong(
      'S3_SECRET_ACCESS_KEY is not the secret of S3_ACCESS_KEY_ID.',
      'Correct it; if it is right, check S3_REGION, and that no proxy changes the Host header.',
    ),
  AccessDenied: ({ name, prefix }) =>
    wrong(`The key may not use ${name}/${prefix}.`, `Allow it ${ACTIONS} on this bucket.`),
  RequestTimeTooSkewed: () =>
    wrong(
      'The clock of this machine differs from that of the store.',
      'Set the clock by a time server: chronyc makestep.',
    ),
  CredentialsProviderError: () =>
    wrong('There are no credentials.', 'Set S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY, or give the machine a role.'),
  PermanentRedirect: ({ region }) => ofRegion(region),
  AuthorizationHeaderMalformed: ({ region }) => ofRegion(region),
};

const ofRegion = (region: string): Result =>
  wrong(`The bucket is not in the region ${region}.`, 'Set S3_REGION to the region of the bucket.');

const ofOther = (code: string, host: string): Result =>
  wrong(
    `${host} does not store a file (${code}).`,
    'Check that S3_ENDPOINT is an S3-compatible store, and S3_PATH_STYLE.',
  );
