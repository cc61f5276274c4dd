import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

import {
  CreateBucketCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';

import { environment } from '../../src/config.ts';
import type { Bucket } from '../../src/lib/file-bucket.ts';
import { anyFreePort } from '../../src/lib/ports.ts';
import { until } from './until.ts';

/** A server of S3 that checks signatures: moto, with one user. */
export type ObjectStore = {
  endpoint: string;
  credentials: { accessKeyId: string; secretAccessKey: string };
  /** Settings of a process for this bucket. */
  settings: (bucket: string) => Record<string, string>;
  newBucket: (name: string) => Promise<Bucket>;
  /** The keys of all files in a bucket, and of all unfinished uploads. */
  keys: (bucket: string) => Promise<{ files: string[]; uploads: string[] }>;
  put: (bucket: string, key: string) => Promise<void>;
  read: (bucket: string, key: string) => Promise<Buffer>;
  stop: () => Promise<void>;
};

/** Requests without a signature: three make the user. From then on each needs a valid one. */
const UNSIGNED_MAX = 3;
/** As many as it lists at once, in place of 1,000. */
export const PAGE_KEYS = 20;
const START_MS = 60_000;
const POLICY = JSON.stringify({
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Action: 's3:*', Resource: '*' }],
});

export async function startObjectStore(): Promise<ObjectStore> {
  const program = environment['MOTO_SERVER'];
  if (!program) throw new Error('these tests need moto_server (test/README.md)');
  const port = await anyFreePort();
  const child = spawn(program, ['--host', '127.0.0.1', '--port', String(port)], {
    env: {
      ...environment,
      INITIAL_NO_AUTH_ACTION_COUNT: String(UNSIGNED_MAX),
      MOTO_S3_DEFAULT_MAX_KEYS: String(PAGE_KEYS),
    },
    stdio: 'ignore',
  });
  const endpoint = `http://127.0.0.1:${port}`;
  await until('moto_server to answer', async () => isUp(child, endpoint), START_MS);
  const credentials = await createUser(endpoint);
  const region = 'us-east-1';
  const client = new S3Client({ endpoint, region, credentials, forcePathStyle: true });
  return {
    endpoint,
    credentials,
    settings: (bucket) => ({
      S3_BUCKET: bucket,
      S3_ENDPOINT: endpoint,
      S3_ACCESS_KEY_ID: credentials.accessKeyId,
      S3_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      // Empty: files are in the bucket.
      KYC_DOCUMENTS_DIR: '',
      REPORTS_DIR: '',
    }),
    newBucket: async (name) => {
      await client.send(new CreateBucketCommand({ Bucket: name }));
      return { name, prefix: 'files/', region, endpoint, pathStyle: true, credentials };
    },
    keys: async (Bucket) => {
      const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket, MaxKeys: 1_000 }));
      const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket }));
      return { files: Contents.map(({ Key = '' }) => Key), uploads: Uploads.map(({ Key = '' }) => Key) };
    },
    put: async (Bucket, Key) => void (await client.send(new PutObjectCommand({ Bucket, Key, Body: 'x' }))),
    read: async (Bucket, Key) => {
      const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
      return Buffer.from((await Body?.transformToByteArray()) ?? []);
    },
    stop: async () => {
      client.destroy();
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

async function isUp(child: ChildProcess, endpoint: string): Promise<boolean> {
  if (child.exitCode !== null) throw new Error(`moto_server ended with ${child.exitCode}`);
  return fetch(`${endpoint}/moto-api/`).then(
    ({ ok }) => ok,
    () => false,
  );
}

async function createUser(endpoint: string): Promise<ObjectStore['credentials']> {
  const call = async (action: string, more: Record<string, string> = {}): Promise<string> => {
    // The service is taken from the scope of the signature, which is not checked yet.
    const scope = 'Credential=none/20260101/us-east-1/iam/aws4_request';
    const authorization = `AWS4-HMAC-SHA256 ${scope}, SignedHeaders=host, Signature=none`;
    const body = new URLSearchParams({ Action: action, Version: '2010-05-08', UserName: 'meskot', ...more });
    const response = await fetch(endpoint, { method: 'POST', headers: { authorization }, body });
    if (!response.ok) throw new Error(`moto_server answers ${action} with ${response.status}`);
    return response.text();
  };
  await call('CreateUser');
  await call('PutUserPolicy', { PolicyName: 'files', PolicyDocument: POLICY });
  const made = await call('CreateAccessKey');
  const field = (name: string): string => new RegExp(`<${name}>([^<]+)`).exec(made)?.[1] ?? '';
  return { accessKeyId: field('AccessKeyId'), secretAccessKey: field('SecretAccessKey') };
}
