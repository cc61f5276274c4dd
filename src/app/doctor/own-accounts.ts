import { addisDay, DAY_MS } from '../../lib/dates.ts';
import type { Database } from '../../lib/db.ts';
import { isGiven } from '../../lib/given-settings.ts';
import type { LiveChannel } from '../../merchants/channels/channel.ts';
import { checkOwnAccount } from '../../providers/account-check.ts';
import { countApproved, listSetsInEffect, type CredentialSet } from '../../providers/credentials/queries.ts';
import { type AccountCredentials, openCredentials } from '../../providers/credentials/values.ts';
import { EXPIRY_WARNING_DAYS } from '../../providers/expiry.ts';
import { credentialsOf, settingOf } from '../../providers/settings.ts';
import { check, type DoctorParts, type Finding, ok, type Result, warning, wrong } from './check.ts';

const PAGE = 'docs/operations/provider-credentials.md';
const CONCURRENT_MAX = 4;
const ENDED_SHOWN_MAX = 3;
/** After it no further account is checked. */
const CHECKING_MS = 30_000;

/**
 * Merchants' own accounts on a channel: whether their credentials can be decrypted and the provider accepts them, when they
 * end, and, where the platform has no account, whether all merchants have one.
 */
export async function checkOwnAccounts(db: Database, parts: DoctorParts, channel: LiveChannel): Promise<Finding[]> {
  const name = `${channel} own accounts`;
  const at = parts.clock();
  let sets: CredentialSet[] = [];
  const accepted = async (): Promise<Result | null> => {
    sets = await listSetsInEffect(db, { channel, at });
    return acceptedResult(sets, parts, channel);
  };
  return [
    ...(await check(name, accepted, 2 * CHECKING_MS)),
    ...(await check(name, async () => endResult(sets, at))),
    ...(await check(name, () => missingResult(db, parts, channel))),
  ];
}

async function acceptedResult(
  sets: readonly CredentialSet[],
  parts: DoctorParts,
  channel: LiveChannel,
): Promise<Result | null> {
  const problems: { id: string; found: string; next: string }[] = [];
  let checked = 0;
  const left = sets.values();
  const endMs = performance.now() + CHECKING_MS;
  const checkNext = async (): Promise<void> => {
    for (const set of left) {
      const problem = await problemOf(set, parts, channel);
      if (problem) problems.push({ id: set.id, ...problem });
      checked += 1;
      if (performance.now() > endMs) return;
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT_MAX }, checkNext));
  const [first] = problems;
  if (first) {
    const found = `${problems.length} of ${checked} cannot be used, the first is ${first.id}: ${first.found}`;
    return wrong(found, `${first.next} See ${PAGE}.`);
  }
  if (checked < sets.length) {
    const found = `${sets.length - checked} of ${sets.length} were not checked within ${CHECKING_MS / 1_000} s.`;
    return warning(found, `The others are accepted. Check single ones as in ${PAGE}.`);
  }
  return checked === 0 ? null : ok(`${checked} of merchants can be used.`);
}

async function problemOf(set: CredentialSet, { config, ...deps }: DoctorParts, channel: LiveChannel) {
  const settings = config.liveProviders[channel];
  let values: AccountCredentials;
  try {
    values = openCredentials(config.keyRing, set);
  } catch {
    const next = 'Put the key that encrypted them back into ENCRYPTION_KEYS, or enter them again.';
    return { found: 'they cannot be decrypted.', next };
  }
  // Without the service, the line of the settings has what is missing.
  if (!settings.endpoint) return null;
  const { outcome, ...problem } = await checkOwnAccount(deps, { channel, settings, values });
  return outcome === 'OK' ? null : problem;
}

function endResult(sets: readonly CredentialSet[], at: Date): Result | null {
  const soon = new Date(at.getTime() + EXPIRY_WARNING_DAYS * DAY_MS);
  const ends = sets.flatMap(({ id, expiresAt }) =>
    expiresAt !== null && expiresAt <= soon ? [{ id, expiresAt }] : [],
  );
  if (ends.length === 0) return null;
  const ended = ends.filter(({ expiresAt }) => expiresAt <= at);
  const found = [
    ...ended.map(({ id, expiresAt }) => `${id} ended on ${addisDay(expiresAt)}.`).slice(0, ENDED_SHOWN_MAX),
    `${ended.length} of ${sets.length} have ended, and ${ends.length - ended.length} end within ${EXPIRY_WARNING_DAYS} days.`,
  ];
  return warning(found.join(' '), `Replace them: ${PAGE}.`);
}

/** Whether the settings have a channel's service, and nothing of an account of the platform there. */
export function lacksAccount({ config, env }: DoctorParts, channel: LiveChannel): boolean {
  const fields = Object.keys(credentialsOf(channel).shape);
  const hasService = config.liveProviders[channel].endpoint !== null;
  return hasService && !fields.some((field) => isGiven(env, settingOf(channel, field)));
}

async function missingResult(db: Database, parts: DoctorParts, channel: LiveChannel): Promise<Result | null> {
  if (!lacksAccount(parts, channel)) return null;
  const { missing } = parts.config.liveProviders[channel];
  const { approved, withoutOwn } = await countApproved(db, channel);
  if (approved > 0 && withoutOwn === 0) return ok(`All ${approved} merchants of the channel have one.`);
  const found = `The platform has no account, and ${withoutOwn} of ${approved} merchants of the channel have none of their own.`;
  return warning(found, `Set ${missing.join(', ')}, or enter credentials of the merchants: ${PAGE}.`);
}
