import { PassThrough, pipeline, Readable } from 'node:stream';

import type { S3Client } from '@aws-sdk/client-s3';

import { UnavailableError } from './errors.ts';
import { type FileStore, isFileName, newFileName, requireFileName } from './file-folder.ts';

/** Files of one kind in a bucket of an S3-compatible store: their keys are the prefix and the name. */
export type Bucket = {
  name: string;
  prefix: string;
  region: string;
  /** Without one, Amazon's of the region. */
  endpoint?: string | undefined;
  /** Whether the bucket is part of the path, not of the host name. */
  pathStyle: boolean;
  /** Without them, those of the machine: the SDK finds the role of an instance, a container or a pod. */
  credentials?: { accessKeyId: string; secretAccessKey: string } | undefined;
  /** Called after each call, with its outcome. */
  onCall?: OnStoreCall | undefined;
  /** Shorter ones in tests. */
  limits?: typeof LIMITS;
};

export type StoreCall = 'write' | 'read' | 'remove' | 'list';
export type OnStoreCall = (call: { call: StoreCall; outcome: 'ok' | 'failed'; seconds: number }) => void;

const LIMITS = {
  connectMs: 3_000,
  /** From sending a request with its body to the head of the response. */
  responseMs: 15_000,
  /** All tries together; a part of a longer file has only the limits of each try. */
  callMs: 30_000,
  /** The pause before the next bytes of a response. */
  pauseMs: 15_000,
};
const TRIES_MAX = 3;

/** The least that stores take, so that 10,000 parts are 50 GB. */
const PART_BYTES = 5 * 1024 * 1024;
/** Parts in memory, besides the one that is being filled. */
const PARTS_AT_ONCE = 2;

const FOR_CALLERS =
  'The store of files does not respond, or refuses requests. Nothing was changed. Repeat the request.';

/**
 * Files in a bucket. What the store does not do, whatever the reason, is an UnavailableError whose cause is the SDK's error.
 * A file that was never completed has an unfinished upload, which {@link FileStore.remove} ends.
 */
export function openFileBucket(bucket: Bucket): FileStore {
  const sdk = loadSdk(bucket);
  // An error of the import is that of each call.
  sdk.catch(() => {});
  const call: Call = async (what, work) => observed(what, bucket, async () => work(await sdk));
  const keyOf = (name: string) => ({ Bucket: bucket.name, Key: bucket.prefix + requireFileName(name) });
  const put = async (name: string, Body: Buffer): Promise<void> =>
    call('write', async ({ s3, send }) => void (await send(new s3.PutObjectCommand({ ...keyOf(name), Body }))));
  const get = async ({ s3, send }: Sdk, name: string): Promise<Readable> => {
    const { Body } = await send(new s3.GetObjectCommand(keyOf(name)));
    return withoutPauses(Body as Readable, bucket.limits?.pauseMs);
  };
  return {
    write: async (content) => {
      const name = newFileName();
      await (Buffer.isBuffer(content) ? put(name, content) : upload(call, keyOf(name), content));
      return name;
    },
    replace: put,
    stream: async (name) => call('read', (loaded) => get(loaded, name)),
    read: async (name) => call('read', async (loaded) => Buffer.concat(await (await get(loaded, name)).toArray())),
    remove: async (name) => {
      const file = keyOf(name);
      await call('remove', async ({ s3, send }) => {
        await send(new s3.DeleteObjectCommand(file));
        const unfinished = new s3.ListMultipartUploadsCommand({ Bucket: file.Bucket, Prefix: file.Key });
        for (const { UploadId } of (await send(unfinished)).Uploads ?? []) {
          await send(new s3.AbortMultipartUploadCommand({ ...file, UploadId })).catch(ignoreMissing);
        }
      });
    },
    listOlder: async (ageMs) => {
      const before = Date.now() - ageMs;
      const older = new Set<string>();
      for await (const { key, at } of listAll(call, bucket)) {
        const name = key.slice(bucket.prefix.length);
        if (isFileName(name) && at.getTime() < before) older.add(name);
      }
      return [...older];
    },
  };
}

type Call = <T>(what: StoreCall, work: (sdk: Sdk) => Promise<T>) => Promise<T>;

/** Sends a file part by part, a small one at once. After an error, also of the content, its parts are removed. */
async function upload(
  call: Call,
  file: { Bucket: string; Key: string },
  content: AsyncIterable<Buffer>,
): Promise<void> {
  let ofContent: { error: unknown } | undefined;
  const source = async function* () {
    try {
      yield* content;
    } catch (error) {
      // When the upload fails, its content is ended by an error too.
      if (!Body.destroyed) ofContent = { error };
      throw error;
    }
  };
  const Body: Readable = Readable.from(source(), { objectMode: false });
  try {
    await call('write', ({ storage, client }) =>
      new storage.Upload({ client, params: { ...file, Body }, partSize: PART_BYTES, queueSize: PARTS_AT_ONCE }).done(),
    );
  } catch (error) {
    throw ofContent ? ofContent.error : error;
  } finally {
    Body.destroy();
  }
}

type Listed = { key: string; at: Date };

/** All files, then all unfinished uploads, page by page. */
async function* listAll(call: Call, { name: Bucket, prefix: Prefix }: Bucket): AsyncGenerator<Listed> {
  for (let ContinuationToken: string | undefined, isLast = false; !isLast;) {
    const from = { Bucket, Prefix, ContinuationToken };
    const page = await call('list', ({ s3, send }) => send(new s3.ListObjectsV2Command(from)));
    for (const { Key: key, LastModified: at } of page.Contents ?? []) if (key && at) yield { key, at };
    ContinuationToken = page.NextContinuationToken;
    isLast = ContinuationToken === undefined;
  }
  for (let KeyMarker: string | undefined, UploadIdMarker: string | undefined, isLast = false; !isLast;) {
    const from = { Bucket, Prefix, KeyMarker, UploadIdMarker };
    const page = await call('list', ({ s3, send }) => send(new s3.ListMultipartUploadsCommand(from)));
    for (const { Key: key, Initiated: at } of page.Uploads ?? []) if (key && at) yield { key, at };
    ({ NextKeyMarker: KeyMarker, NextUploadIdMarker: UploadIdMarker } = page);
    isLast = !page.IsTruncated || KeyMarker === undefined;
  }
}

type Sdk = Awaited<ReturnType<typeof loadSdk>>;

/** Imports the SDK, which takes half a second: only where there is a bucket, and then before the first request. */
async function loadSdk({ region, endpoint, pathStyle, credentials, limits = LIMITS }: Bucket) {
  const [s3, storage] = await Promise.all([import('@aws-sdk/client-s3'), import('@aws-sdk/lib-storage')]);
  const client: S3Client = new s3.S3Client({
    region,
    forcePathStyle: pathStyle,
    ...(endpoint !== undefined && { endpoint }),
    ...(credentials && { credentials }),
    maxAttempts: TRIES_MAX,
    // Other stores than Amazon's do not know its newer checksums. The digest of the body is signed all the same.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: limits.connectMs,
      requestTimeout: limits.responseMs,
      throwOnRequestTimeout: true,
    },
  });
  // The time ends with the head of the response: a file is streamed for as long as its reader takes.
  const send = (async (command: Parameters<typeof client.send>[0]) => {
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(), limits.callMs);
    return client.send(command, { abortSignal: timeout.signal }).finally(() => clearTimeout(timer));
  }) as typeof client.send;
  return { s3, storage, client, send };
}

async function observed<T>(call: StoreCall, { onCall, name }: Bucket, work: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  const report = (outcome: 'ok' | 'failed') =>
    onCall?.({ call, outcome, seconds: (performance.now() - startedAt) / 1_000 });
  try {
    const result = await work();
    report('ok');
    return result;
  } catch (error) {
    report('failed');
    if (nameOf(error) === 'NoSuchKey') throw new Error(`the file is not in the bucket ${name}`, { cause: error });
    const message = `The bucket ${name} did not ${call} a file: ${nameOf(error)}`;
    throw new UnavailableError(message, { cause: error, forCallers: FOR_CALLERS });
  }
}

/** The store's own code, such as NoSuchBucket, or that of the network, such as ECONNREFUSED. */
function nameOf(error: unknown): string {
  const { name, code } = error as { name?: unknown; code?: unknown };
  return String(code ?? name);
}

function ignoreMissing(error: unknown): void {
  if (nameOf(error) !== 'NoSuchUpload') throw error;
}

/** The same stream. It fails when the store pauses too long; its reader may. */
function withoutPauses(body: Readable, pauseMs = LIMITS.pauseMs): Readable {
  const file = new PassThrough();
  const timer = setTimeout(() => {
    if (file.writableNeedDrain) timer.refresh();
    else file.destroy(new UnavailableError('The bucket stopped sending a file', { forCallers: FOR_CALLERS }));
  }, pauseMs);
  const stop = () => clearTimeout(timer);
  body.on('data', () => timer.refresh()).once('end', stop);
  file.on('drain', () => timer.refresh());
  pipeline(body, file, stop);
  return file;
}
