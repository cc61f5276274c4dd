import { countUnderOlderPeppers } from '../../access/api-keys.ts';
import type { Config } from '../../config.ts';
import { SEALED_RESPONSES } from '../../http/idempotency.ts';
import type { Database } from '../../lib/db.ts';
import { AppError } from '../../lib/errors.ts';
import { reencryptTable, type OnProgress, type Reencrypted } from '../../lib/reencrypt.ts';
import { reencryptDocuments } from '../../merchants/kyc/documents.ts';
import { createDocumentStore } from '../../merchants/kyc/store.ts';
import { SEALED_SUBSCRIPTIONS } from '../../webhooks/subscriptions/operations.ts';

/** The result for one kind of stored secrets: `left` is what still needs an older key. */
export type ReencryptedPart = { what: string; seen: number; reencrypted: number; left: number };

type Parts = { db: Database; config: Pick<Config, 'API_KEY_PEPPER' | 'keyRing' | 'KYC_DOCUMENTS_DIR'> };

const PRINT_EVERY_MS = 2_000;
/** Of what cannot be read, this many are named. */
const NAMED_MAX = 20;

/**
 * Brings everything that is stored encrypted under the current key of ENCRYPTION_KEYS, and counts the API keys that are
 * not under the current pepper: those cannot be hashed anew until they are used. Throws INVALID_STATE, after all was
 * gone through, when something could not be read.
 */
export async function reencryptAll({ db, config }: Parts, print: (line: string) => void): Promise<ReencryptedPart[]> {
  const { keyRing, KYC_DOCUMENTS_DIR, API_KEY_PEPPER } = config;
  const tables = { db, keyRing };
  const store = createDocumentStore(KYC_DOCUMENTS_DIR, keyRing);
  const works: [string, (onProgress: OnProgress) => Promise<Reencrypted>][] = [
    ['webhook subscriptions', (onProgress) => reencryptTable(tables, SEALED_SUBSCRIPTIONS, onProgress)],
    ['KYC documents', (onProgress) => reencryptDocuments({ db, store }, onProgress)],
    ['stored answers', (onProgress) => reencryptTable(tables, SEALED_RESPONSES, onProgress)],
  ];
  const parts: ReencryptedPart[] = [];
  const unread: string[] = [];
  for (const [what, work] of works) {
    const { seen, reencrypted, failed } = await work(reportEverySecond(what, print));
    unread.push(...failed.map((one) => `${what}: ${one}`));
    parts.push({ what, seen, reencrypted, left: failed.length });
  }
  const keys = await countUnderOlderPeppers(db, API_KEY_PEPPER);
  parts.push({ what: 'API keys', seen: keys.all, reencrypted: 0, left: keys.older });
  if (unread.length === 0) return parts;
  for (const { what, seen, reencrypted, left } of parts) {
    print(`${what}: ${seen} seen, ${reencrypted} encrypted anew, ${left} left`);
  }
  const more = unread.length > NAMED_MAX ? `\n  and ${unread.length - NAMED_MAX} more` : '';
  throw new AppError(
    'INVALID_STATE',
    `No key of ENCRYPTION_KEYS opens these, or their file is missing:\n  ${unread.slice(0, NAMED_MAX).join('\n  ')}${more}`,
  );
}

function reportEverySecond(what: string, print: (line: string) => void): OnProgress {
  let printedAt = performance.now();
  return ({ seen, reencrypted }) => {
    if (performance.now() - printedAt < PRINT_EVERY_MS) return;
    printedAt = performance.now();
    print(`${what}: ${seen} seen, ${reencrypted} encrypted anew so far`);
  };
}
