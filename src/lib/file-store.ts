import { z } from 'zod';

import { type Bucket, openFileBucket, type OnStoreCall } from './file-bucket.ts';
import { type FileStore, openFileFolder } from './file-folder.ts';
import { baseAddress, flag } from './setting-fields.ts';

export type { FileStore };

/** Where files are: a folder, or a bucket. */
export type FilePlace = string | Bucket;

export const openFiles = (place: FilePlace): FileStore =>
  typeof place === 'string' ? openFileFolder(place) : openFileBucket(place);

/** The places, with calls to a bucket reported. */
export function observePlaces<Name extends string>(
  places: Readonly<Record<Name, FilePlace>>,
  onCall: OnStoreCall,
): Record<Name, FilePlace> {
  const each = Object.entries<FilePlace>(places);
  return Object.fromEntries(
    each.map(([name, place]) => [name, typeof place === 'string' ? place : { ...place, onCall }]),
  ) as Record<Name, FilePlace>;
}

const text = z.string().min(1).max(500);

/** The settings of a bucket, in place of the folders. */
export const BUCKET_FIELDS = {
  S3_BUCKET: z
    .string()
    .regex(
      /^[a-z\d][a-z\d.-]{1,61}[a-z\d]$/,
      'must be the name of a bucket: 3 to 63 small letters, digits, dots, dashes',
    )
    .optional(),
  S3_PREFIX: z
    .string()
    .regex(/^(?:[\w.-]{1,100}\/){0,5}$/, 'must be names that each end with a slash, such as meskot/')
    .default(''),
  S3_ENDPOINT: baseAddress({ example: 'https://objects.example.et' }).optional(),
  S3_REGION: text.default('us-east-1'),
  S3_PATH_STYLE: flag.optional(),
  S3_ACCESS_KEY_ID: text.optional(),
  S3_SECRET_ACCESS_KEY: text.optional(),
};

/** The settings of the folders, one for each kind of file. */
const FOLDERS = { documents: 'KYC_DOCUMENTS_DIR', reports: 'REPORTS_DIR' } as const;

export const isFolderSetting = (name: string): boolean => Object.values<string>(FOLDERS).includes(name);

/** What is wrong with the settings beside each other, each as a sentence that begins with the setting. */
export function bucketProblems(env: Readonly<Record<string, string | undefined>>): string[] {
  const { S3_BUCKET: bucket, S3_ACCESS_KEY_ID: id, S3_SECRET_ACCESS_KEY: secret } = env;
  const given = (name: string): boolean => Boolean(env[name]);
  const both = Object.values(FOLDERS).filter((name) => bucket && given(name));
  const without = ['S3_ENDPOINT', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'].filter((name) => !bucket && given(name));
  return [
    ...both.map((name) => `${name} must not be set beside S3_BUCKET: files are in folders or in a bucket`),
    ...without.map((name) => `${name} must not be set without S3_BUCKET`),
    ...(!id === !secret ? [] : ['S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY must be set together']),
  ];
}

type PlaceSettings = z.output<z.ZodObject<typeof BUCKET_FIELDS>> & Record<'KYC_DOCUMENTS_DIR' | 'REPORTS_DIR', string>;
type Places = { files: Record<keyof typeof FOLDERS, FilePlace>; folders: Readonly<Record<string, string>> };

/** Where files are, and the folders among these places by their settings. */
export function placesOf(settings: PlaceSettings): Places {
  const { S3_BUCKET: name, S3_ENDPOINT: endpoint, S3_PREFIX: prefix, S3_REGION: region } = settings;
  const { S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey } = settings;
  const { KYC_DOCUMENTS_DIR, REPORTS_DIR } = settings;
  if (name === undefined) {
    return {
      files: { documents: KYC_DOCUMENTS_DIR, reports: REPORTS_DIR },
      folders: { KYC_DOCUMENTS_DIR, REPORTS_DIR },
    };
  }
  // Of other stores than Amazon's, few have a host name for each bucket.
  const pathStyle = settings.S3_PATH_STYLE ?? endpoint !== undefined;
  const credentials = accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey } : undefined;
  const bucket = { name, region, endpoint, pathStyle, credentials };
  const inBucket = (kind: keyof typeof FOLDERS): Bucket => ({ ...bucket, prefix: `${prefix}${kind}/` });
  return { files: { documents: inBucket('documents'), reports: inBucket('reports') }, folders: {} };
}
