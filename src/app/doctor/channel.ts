import { isDeepStrictEqual } from 'node:util';

import { startOfAddisDay } from '../../lib/dates.ts';
import { isGiven } from '../../lib/given-settings.ts';
import { type LiveChannel, manifestOf } from '../../merchants/channels/channel.ts';
import { checkAccount } from '../../providers/account-check.ts';
import { PROVIDER_FIELDS, settingOf } from '../../providers/settings.ts';
import {
  check,
  type DoctorParts,
  type Finding,
  hasWrong,
  isSkewed,
  ofSkew,
  ofValidity,
  ok,
  type Result,
  wrong,
} from './check.ts';
import { lacksAccount } from './own-accounts.ts';
import { checkPrivateKey, checkProviderKeys } from './provider-keys.ts';
import { checkCallback } from './public-address.ts';
import { ask, checkCertificate, type HttpReply, type NetworkFailure, ofNetworkFailure, serverOf } from './reach.ts';

type ChannelParts = DoctorParts & { channel: LiveChannel };

/** The platform's account for payments or payouts. `prefix`: how the names of its settings go on after the channel's. */
type Account = { prefix: '' | 'PAYOUT_'; isPayout: boolean; skewSeconds: number | null };

/**
 * A live channel: its settings, and with them its keys, the provider's service, our accounts there, and the address of
 * callbacks. `isRequired`: it must be configured.
 */
export async function checkChannel(parts: ChannelParts, isRequired: boolean): Promise<Finding[]> {
  const { channel, config } = parts;
  const { endpoint, payIn, payOut, connection } = config.liveProviders[channel];
  const settings = check(`${channel} settings`, async () => settingsResult(parts, isRequired));
  if (!endpoint) return settings;
  const label = manifestOf(channel).name;
  const asked = ask(endpoint.baseUrl, { clock: parts.clock, timeoutMs: connection.timeoutMs });
  const service = [
    check(`${channel} service`, () => serviceResult(parts, endpoint.baseUrl, asked)),
    check(`${channel} clock`, async () => clockResult(await asked, label)),
  ];
  const reply = await asked;
  const skewSeconds = reply.kind === 'reply' ? reply.skewSeconds : null;
  const payments = payIn ? accountFindings(parts, { prefix: '', isPayout: false, skewSeconds }) : Promise.resolve([]);
  const isOwn = payOut !== null && !isDeepStrictEqual(payOut, payIn);
  const payout: Account = { prefix: isOwn ? 'PAYOUT_' : '', isPayout: true, skewSeconds };
  // What is wrong with the account of payments is named once.
  const payouts = payments.then((found) =>
    !payOut || !connection.payouts || (hasWrong(found) && !isOwn) ? [] : accountFindings(parts, payout),
  );
  const groups = await Promise.all([
    settings,
    ...service,
    providerKeyFindings(parts),
    payments,
    payouts,
    check(`${channel} credentials end`, async () => expiryResult(parts)),
    check(`${channel} callbacks`, () => checkCallback(parts, channel, label)),
  ]);
  return groups.flat();
}

function settingsResult(parts: ChannelParts, isRequired: boolean): Result {
  const { config, env, wrongNames, channel } = parts;
  const { missing, payIn, payOut, connection } = config.liveProviders[channel];
  const names = Object.keys(PROVIDER_FIELDS).filter((name) => name.startsWith(`${channel}_`));
  const next = 'docs/operations/settings.md lists them under "Live providers".';
  if (missing.length === 0) {
    const account = isDeepStrictEqual(payIn, payOut) ? 'the same account' : 'an account of their own';
    return ok(`All are set; payouts ${connection.payouts ? `use ${account}` : 'are not part of the contract'}.`);
  }
  if (!names.some((name) => isGiven(env, name))) {
    const found = 'Not configured: the channel takes no real money.';
    return isRequired ? wrong(found, `Set ${missing.join(', ')}: ${next}`) : ok(found);
  }
  const sentences = ['not set', 'wrong'].flatMap((what) => {
    const list = missing.filter((name) => wrongNames.has(name) === (what === 'wrong'));
    return list.length === 0 ? [] : [`${list.join(', ')} ${list.length === 1 ? 'is' : 'are'} ${what}.`];
  });
  // Whether all merchants have one is in the line of their own accounts.
  if (lacksAccount(parts, channel)) {
    return ok(`${sentences.join(' ')} The platform has no account: merchants need their own.`);
  }
  return wrong(sentences.join(' '), `Until they are right the channel takes no real money: ${next}`);
}

function expiryResult({ channel, config, clock }: ChannelParts): Result | null {
  const day = config.liveProviders[channel].connection.credentialsExpireOn;
  if (day === undefined) return null;
  const name = `${channel}_CREDENTIALS_EXPIRE_ON`;
  const validity = { validFrom: new Date(0).toISOString(), validTo: startOfAddisDay(day).toISOString() };
  const next = `Request new credentials of the provider, and set them with their new ${name}.`;
  return ofValidity(`What the provider has issued (${name})`, validity, { now: clock(), next });
}

async function serviceResult(
  { channel, clock }: ChannelParts,
  url: string,
  asked: Promise<HttpReply | NetworkFailure>,
): Promise<Result> {
  const server = serverOf(url, `${channel}_BASE_URL`);
  const certificate = url.startsWith('https:') ? await checkCertificate(server, { now: clock() }) : null;
  if (certificate && certificate.status !== 'ok') return certificate;
  const reply = await asked;
  if (reply.kind === 'failed') return ofNetworkFailure(reply.code, server);
  return certificate ?? ok(`${server.host}:${server.port} answers.`);
}

/** No line where the service did not answer: its own line has the reason. */
function clockResult(reply: HttpReply | NetworkFailure, label: string): Result | null {
  if (reply.kind === 'failed') return null;
  if (reply.skewSeconds === null) return ok(`${label} does not send its time, so it is not compared.`);
  return ofSkew(reply.skewSeconds, `${label}'s`);
}

async function providerKeyFindings({ channel, config, clock }: ChannelParts): Promise<Finding[]> {
  const { endpoint, payIn, payOut } = config.liveProviders[channel];
  const ours = keysOf(channel);
  const ourKeys = [payIn, payOut].flatMap((account) => ours.flatMap((field) => account?.[field] ?? []));
  const { service } = manifestOf(channel);
  return Object.keys(service).flatMap((field) => {
    if (service[field]?.kind !== 'publicKeys' || !endpoint) return [];
    const results = checkProviderKeys(channel, { field, value: endpoint[field] ?? '', ourKeys }, clock());
    return results.map((result) => ({ name: `${channel} provider key`, ...result }));
  });
}

/** The fields that have private keys of ours. */
function keysOf(channel: LiveChannel): string[] {
  const { credentials } = manifestOf(channel);
  return Object.keys(credentials).filter((field) => credentials[field]?.kind === 'privateKey');
}

/** Our keys, where calls are signed with one, and a query: not made where a key already shows what is wrong. */
async function accountFindings(parts: ChannelParts, account: Account): Promise<Finding[]> {
  const { channel, config } = parts;
  const { isPayout, prefix } = account;
  const name = isPayout ? `${channel} payout` : channel;
  const { payIn, payOut } = config.liveProviders[channel];
  const values = isPayout ? payOut : payIn;
  const findings: Finding[] = [];
  // Payouts on the account of payments have no key of their own.
  for (const field of isPayout && prefix === '' ? [] : keysOf(channel)) {
    const setting = settingOf(channel, field, prefix);
    findings.push(
      ...(await check(`${name} key`, async () => checkPrivateKey(channel, setting, values?.[field] ?? ''))),
    );
    // The adapter rejects what is not an RSA key.
    if (hasWrong(findings)) return findings;
  }
  return [...findings, ...(await check(`${name} query`, () => queryResult(parts, account)))];
}

async function queryResult(parts: ChannelParts, { prefix, isPayout, skewSeconds }: Account): Promise<Result | null> {
  const { channel, config } = parts;
  const settings = config.liveProviders[channel];
  const { payIn, payOut } = settings;
  if (!payIn) return null;
  const nameOf = (field: string): string => settingOf(channel, field, prefix);
  const checked = { channel, settings, values: { payIn, payOut } };
  const { outcome, found, next } = await checkAccount(parts, checked, { isPayout, nameOf });
  if (outcome === 'OK') return ok(found);
  const isClock = outcome === 'REFUSED' && isSkewed(skewSeconds);
  return wrong(found, isClock ? `Set the clock first: see "${channel} clock". ${next}` : next);
}
