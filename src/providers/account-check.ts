import type { Clock } from '../lib/clock.ts';
import type { HttpClient } from '../lib/http-client.ts';
import { newId } from '../lib/ids.ts';
import { listWith } from '../lib/words.ts';
import { manifestOf, type LiveChannel } from '../merchants/channels/channel.ts';
import { createAdapter } from './adapters.ts';
import { connectAccount } from './credentials/accounts.ts';
import type { CheckOutcome } from './credentials/queries.ts';
import { lastOf, type AccountCredentials } from './credentials/values.ts';
import { REJECTED_WITH } from './orders.ts';
import type { Unknown } from './provider.ts';
import { settingOf, type LiveProvider } from './settings.ts';

/** Whether a provider accepts an account, and what to do otherwise, in sentences without a secret. */
export type AccountCheck = { outcome: CheckOutcome; found: string; next: string };

type Deps = { http: HttpClient; clock: Clock };
/** `settings`: with the service. */
type Checked = { channel: LiveChannel; settings: LiveProvider; values: AccountCredentials };
/** `nameOf`: the reader's name of a field of the credentials. */
type Part = { isPayout: boolean; nameOf: (field: string) => string };

/**
 * Checks the account of payments or payouts by a signed query of an order that does not exist, before which a token
 * may be issued: harmless, and answered with "not found" only if all credentials are right. Without rate limit and circuit breaker,
 * so that it has no effect on payments. Ends within the time limit of one call.
 */
export async function checkAccount(deps: Deps, checked: Checked, { isPayout, nameOf }: Part): Promise<AccountCheck> {
  const { channel, settings, values } = checked;
  const { endpoint, connection } = settings;
  if (!endpoint) throw new Error(`the service of ${channel} is not configured`);
  const timed = { ...deps, timeoutMs: connection.timeoutMs };
  const { provider } = connectAccount(
    (one) => createAdapter(channel, timed, { ...endpoint, ...one }),
    { channel, connection },
    values,
  );
  const reply = isPayout ? await provider.queryPayout(newId('wd')) : await provider.query(newId('pat'));
  const { name, tokenBy } = manifestOf(channel);
  if (reply.kind === 'pending' || reply.kind === 'not-found') {
    const account = (isPayout && values.payOut) || values.payIn;
    const issued = ([key]: readonly [string, string]) =>
      `has issued a token to the ${wordsOf(key)} ${lastOf(account[key] ?? '')}, and `;
    const token = tokenBy ? issued(tokenBy) : '';
    const answer = `answers a signed query of an order that does not exist as it should (${codeIn(reply.providerCode ?? '')})`;
    return { outcome: 'OK', found: `${name} ${token}${answer}.`, next: '' };
  }
  if (reply.kind !== 'unknown') {
    const found = `${name} reports a payment for an order that does not exist.`;
    return { outcome: 'REFUSED', found, next: `Ask ${name} why: reconciliation would trust such answers.` };
  }
  if (reply.message.startsWith(REJECTED_WITH)) {
    const found = `${name} rejects a signed query (${codeIn(reply.message.slice(REJECTED_WITH.length))}).`;
    return { outcome: 'REFUSED', found, next: nextOfSignature(channel, nameOf) };
  }
  // Only the request for a token fails with another 4xx.
  if (tokenBy && reply.status !== undefined && reply.status < 500 && ![408, 429].includes(reply.status)) {
    const found = `${name} rejects ${listWith('or', tokenBy.map(nameOf))} (${reply.message}).`;
    return { outcome: 'REFUSED', found, next: `Compare both with what ${name} has issued.` };
  }
  const [found, next] = ofUnknown(reply, channel);
  return { outcome: 'UNREACHABLE', found, next };
}

/** Checks a merchant's own account, of payouts too where they are made. Returns the first problem, if there is one. */
export async function checkOwnAccount(deps: Deps, checked: Checked): Promise<AccountCheck> {
  const { settings, values } = checked;
  const checkPart = async (isPayout: boolean, part: string) =>
    checkAccount(deps, checked, { isPayout, nameOf: (field) => `${part}.${field}` });
  const hasPayouts = settings.connection.payouts || values.payOut !== null;
  const [payments, payouts] = await Promise.all([
    checkPart(false, 'credentials'),
    hasPayouts ? checkPart(true, values.payOut ? 'payoutCredentials' : 'credentials') : null,
  ]);
  return payouts && payments.outcome === 'OK' ? payouts : payments;
}

/** What to compare after a rejected signature. */
function nextOfSignature(channel: LiveChannel, nameOf: Part['nameOf']): string {
  const { name, issuer, credentials, service, signedWith } = manifestOf(channel);
  const texts = signedWith.map(nameOf);
  const key = Object.keys(credentials).find((field) => credentials[field]?.kind === 'privateKey');
  if (key === undefined) return `Compare ${listWith('and', texts)} with what ${name} has issued.`;
  const choices = Object.keys(service).filter((field) => service[field]?.kind === 'choice');
  return (
    `Have ${issuer} compare the registered public key with that of ${nameOf(key)} (openssl pkey -pubout), and check ` +
    `${listWith('and', [...texts, ...choices.map((field) => settingOf(channel, field))])}.`
  );
}

/** `appKey` as "app key". */
const wordsOf = (field: string): string => field.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/** No usable reply: none in time, none at all, or one that is not of this provider. */
function ofUnknown({ reason, message }: Unknown, channel: LiveChannel): [found: string, next: string] {
  const { name } = manifestOf(channel);
  if (reason === 'timeout' || reason === 'network') {
    return [`${name} does not answer (${message}).`, `See "${channel} service" of meskot doctor on the server.`];
  }
  if (message === 'status 429') {
    const next = `Set ${channel}_CALLS_PER_SECOND to what the contract allows, divided by the number of API and worker processes.`;
    return [`${name} limits our calls (${message}).`, next];
  }
  if (reason === 'http') {
    const next = `Ask ${name} whether its service is down, and check ${channel}_BASE_URL.`;
    return [`${name} answers without a result (${message}).`, next];
  }
  return [`The reply is not of ${name}'s documented form.`, `Check the path and the host of ${channel}_BASE_URL.`];
}

/** A provider's code, which is any text: it is printed without control characters, and not at any length. */
const codeIn = (text: string): string => text.replaceAll(/[^\w .…-]/g, '').slice(0, 40);
