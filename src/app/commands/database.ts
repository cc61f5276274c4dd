import { join } from 'node:path';

import { Connection } from '@temporalio/client';

import { auditOfKey, countUnderOlderPeppers, createOperatorKey } from '../../access/api-keys.ts';
import { recordAudit } from '../../access/audit.ts';
import { createOperator, listActiveOperators, presentOperator } from '../../access/operators.ts';
import { SEALED_TOTP_SECRETS } from '../../access/users/totp.ts';
import type { Config } from '../../config.ts';
import { SEALED_RESPONSES } from '../../http/idempotency.ts';
import { type LedgerInvariant, verifyLedger } from '../../ledger/verify.ts';
import { systemClock } from '../../lib/clock.ts';
import type { Database } from '../../lib/db.ts';
import { invalidState } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { lock } from '../../lib/lock.ts';
import { migrate, ofNewerRelease } from '../../lib/migrate.ts';
import { type OnProgress, type Reencrypted, reencryptTable } from '../../lib/reencrypt.ts';
import { reencryptDocuments } from '../../merchants/kyc/documents.ts';
import { createDocumentStore } from '../../merchants/kyc/store.ts';
import { enqueueMail, SEALED_MAILS } from '../../outbox/mail.ts';
import { createTransactionRunner } from '../../outbox/record.ts';
import { newAdminMail } from '../../portal/mails.ts';
import { SEALED_CREDENTIALS } from '../../providers/credentials/values.ts';
import { temporalConnection } from '../../temporal/client.ts';
import { ensureTemporal } from '../../temporal/prepare.ts';
import { CHECK_ACCESS, isRefused, listMissing } from '../../temporal/requirements.ts';
import { SEALED_SUBSCRIPTIONS } from '../../webhooks/subscriptions/operations.ts';
import { insertChannels } from '../insert-channels.ts';
import { CommandError, EXIT } from './api-client.ts';
import { type Terminal, printData } from './print.ts';

/** So many active admins need no other from the shell: one proposes, the other confirms. */
const ADMINS_NEEDED = 2;

type AdminDeps = { db: Database; config: Pick<Config, 'API_KEY_PEPPER' | 'keyRing' | 'production' | 'SMTP_URL'> };

/**
 * `meskot operators create --admin`: creates an admin with a key from the server's shell, audited as its own creator and
 * mailed to all active operators. For the first two, and for the successor of one who has left or has lost the phone. Throws
 * INVALID_STATE while two admins are active; DUPLICATE_REFERENCE.
 */
export async function createAdmin({ db, config }: AdminDeps, { name, email }: { name: string; email: string }) {
  // The worker forwards the outbox to Temporal.
  return createTransactionRunner(db, () => {})(async (tx) => {
    await lock(tx.trx, 'operators', 'all');
    const admins = (await listActiveOperators(tx.trx)).filter(({ role }) => role === 'admin');
    if (admins.length >= ADMINS_NEEDED) {
      const named = admins.map((admin) => `${admin.name} (${admin.id})`).join(', ');
      throw invalidState(
        `${admins.length} admins are active, who create operators: ${named}. If one of them has left or has lost the phone, ` +
          'another one deactivates them first: meskot operators deactivate opr_….',
      );
    }
    const input = { name, email, role: 'admin' } as const;
    const operator = await createOperator(tx.trx, input);
    const operatorId = operator.id;
    const context = { tx, operatorId, requestId: newId('req'), at: systemClock() };
    const reason = "From the server's shell";
    const created = { resourceType: 'operator', resourceId: operatorId, after: input } as const;
    await recordAudit(context, { action: 'operator.create', ...created, reason });
    const keyDeps = { trx: tx.trx, pepper: config.API_KEY_PEPPER, clock: systemClock };
    const { key, secret } = await createOperatorKey(keyDeps, { operatorId });
    const after = { operatorId, name: key.name, expiresAt: key.expiresAt };
    await recordAudit(context, { action: 'operator-key.create', ...auditOfKey(key), after, reason });
    // Without a mail server nothing would send them; a local start shows them.
    if (config.SMTP_URL !== undefined || !config.production) {
      for (const { email: recipient } of await listActiveOperators(tx.trx)) {
        await enqueueMail(tx.trx, config.keyRing, { recipient, ...newAdminMail({ name, email, operatorId }) });
      }
    }
    const createdAt = operator.createdAt.toISOString();
    return { ...presentOperator(operator), createdAt, keyId: key.id, secret };
  });
}

/**
 * `meskot ledger verify`: checks every journal, entry and balance, and prints the result of each invariant. Throws
 * CommandError if one is violated.
 */
export async function verify(
  { db, checks, terminal }: { db: Database; checks: readonly LedgerInvariant[]; terminal: Terminal },
  { json = false }: { json?: boolean },
): Promise<void> {
  const violated = await verifyLedger(db, checks);
  const results = checks.map(({ description: check }) => {
    const found = violated.find((one) => one.check === check);
    const { count: broken = 0, about: first = null, journalId: journal = null } = found ?? {};
    return { check, holds: found ? 'BROKEN' : 'yes', broken, first, journal };
  });
  printData(terminal, results, { json, columns: ['holds', 'first', 'journal', 'check'] });
  if (violated.length > 0) throw new CommandError(EXIT.failed, `${violated.length} checks are broken.`);
}

/** The result for one kind of stored secrets: `left` is what still needs an older key. */
export type ReencryptedPart = { what: string; seen: number; reencrypted: number; left: number };

const NOTE_EVERY_MS = 2_000;
/** Of what cannot be read, this many are named. */
const NAMED_MAX = 20;

/**
 * `meskot keys reencrypt`: brings everything that is stored encrypted under the current key of ENCRYPTION_KEYS, and counts
 * the API keys that are not under the current pepper: those cannot be hashed anew until they are used. Throws
 * INVALID_STATE, after all was gone through, when something could not be read.
 */
export async function reencryptAll(
  { db, config }: { db: Database; config: Pick<Config, 'API_KEY_PEPPER' | 'keyRing' | 'files'> },
  note: (line: string) => void,
): Promise<ReencryptedPart[]> {
  const tables = { db, keyRing: config.keyRing };
  const documents = { db, store: createDocumentStore(config.files.documents, config.keyRing) };
  const works: Record<string, (onProgress: OnProgress) => Promise<Reencrypted>> = {
    'webhook subscriptions': (onProgress) => reencryptTable(tables, SEALED_SUBSCRIPTIONS, onProgress),
    'provider credentials': (onProgress) => reencryptTable(tables, SEALED_CREDENTIALS, onProgress),
    'KYC documents': (onProgress) => reencryptDocuments(documents, onProgress),
    'authenticator apps': (onProgress) => reencryptTable(tables, SEALED_TOTP_SECRETS, onProgress),
    mails: (onProgress) => reencryptTable(tables, SEALED_MAILS, onProgress),
    'stored answers': (onProgress) => reencryptTable(tables, SEALED_RESPONSES, onProgress),
  };
  const parts: ReencryptedPart[] = [];
  const unread: string[] = [];
  let notedAt = performance.now();
  for (const [what, work] of Object.entries(works)) {
    const { failed, ...done } = await work(({ seen, reencrypted }) => {
      if (performance.now() - notedAt < NOTE_EVERY_MS) return;
      notedAt = performance.now();
      note(`${what}: ${seen} seen, ${reencrypted} encrypted anew so far`);
    });
    unread.push(...failed.map((one) => `${what}: ${one}`));
    parts.push({ what, ...done, left: failed.length });
  }
  const keys = await countUnderOlderPeppers(db, config.API_KEY_PEPPER);
  parts.push({ what: 'API keys', seen: keys.all, reencrypted: 0, left: keys.older });
  if (unread.length === 0) return parts;
  for (const part of parts)
    note(`${part.what}: ${part.seen} seen, ${part.reencrypted} encrypted anew, ${part.left} left`);
  const named = unread.slice(0, NAMED_MAX);
  if (unread.length > NAMED_MAX) named.push(`and ${unread.length - NAMED_MAX} more`);
  throw invalidState(`No key of ENCRYPTION_KEYS opens these, or their file is missing:\n  ${named.join('\n  ')}`);
}

/** A server that is just starting is waited for a little; a missing one must not hold up the API. */
const CONNECT_TIMEOUT_MS = 5_000;

export type PrepareOptions = {
  project: string;
  print: (line: string) => void;
  warn: (line: string) => void;
};

/**
 * `meskot migrate`: brings the schema up to date, then makes the namespace, search attributes and schedule that are missing
 * in Temporal. Temporal being away, or not letting us make them, is a warning only: the API must come up without it, and
 * every worker prepares it too.
 */
export async function prepare(config: Config, { project, print, warn }: PrepareOptions): Promise<void> {
  const directory = join(project, 'migrations');
  const { applied, newer } = await migrate({ url: config.DATABASE_URL, directory, insertRows: insertChannels });
  if (newer.length > 0) warn(ofNewerRelease(newer));
  if (applied.length > 0) print(`Applied ${applied.join(', ')}.`);
  else if (newer.length === 0) print('The schema is up to date.');
  const reached = temporalConnection(config);
  const temporal = `Temporal at ${reached.address}`;
  const connecting = Connection.connect({ ...reached, connectTimeout: CONNECT_TIMEOUT_MS });
  const connection = await connecting.catch((error: unknown) => {
    const why = isRefused(error) ? 'refuses our calls' : 'does not answer';
    const first = isRefused(error) ? CHECK_ACCESS : 'check TEMPORAL_ADDRESS';
    warn(
      `${temporal} ${why}, so nothing was prepared there. Workers prepare it when they reach it; ` +
        `to do it now, ${first} and run "meskot migrate" again.`,
    );
    return null;
  });
  if (!connection) return;
  try {
    const { created, missing } = await ensureTemporal({ config, connection });
    if (created.length > 0) print(`Made in ${temporal}: ${created.join(', ')}.`);
    else if (missing.length === 0) print(`${temporal} is prepared.`);
    if (missing.length > 0) {
      const meanwhile = missing.some(({ stopsWorkers }) => stopsWorkers) ? 'wait for it' : 'run without it';
      warn(`${temporal} lacks what it does not let us make; workers ${meanwhile}:\n${listMissing(missing)}`);
    }
  } finally {
    await connection.close();
  }
}
