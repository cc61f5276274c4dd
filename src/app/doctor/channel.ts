import { createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';

import { startOfAddisDay } from '../../lib/dates.ts';
import { isGiven } from '../../lib/given-settings.ts';
import { checkAccount, PROVIDER_NAMES } from '../../providers/account-check.ts';
import {
  type Credentials,
  type LiveChannel,
  pemBlocks,
  PROVIDER_FIELDS,
  type ProviderEndpoint,
  settingOf,
} from '../../providers/settings.ts';
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
  warning,
  wrong,
} from './check.ts';
import { lacksAccount } from './own-accounts.ts';
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
  const label = PROVIDER_NAMES[channel];
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
  const { endpoint, payIn, payOut } = config.liveProviders.TELEBIRR;
  if (channel !== 'TELEBIRR' || !endpoint) return [];
  const ourKeys = [payIn, payOut].flatMap((account) => account?.merchantPrivateKey ?? []);
  const results = checkProviderKeys(endpoint, ourKeys, clock());
  return results.map((result) => ({ name: 'TELEBIRR provider key', ...result }));
}

/** telebirr's key, and for every provider a signed query: not made where the key already shows what is wrong. */
async function accountFindings(parts: ChannelParts, account: Account): Promise<Finding[]> {
  const { channel } = parts;
  const { isPayout, prefix } = account;
  const name = isPayout ? `${channel} payout` : channel;
  const { payIn, payOut } = parts.config.liveProviders.TELEBIRR;
  const telebirr = isPayout ? payOut : payIn;
  const findings: Finding[] = [];
  // Payouts on the account of payments have no key of their own.
  if (channel === 'TELEBIRR' && telebirr && (!isPayout || prefix !== '')) {
    const setting = settingOf(channel, 'merchantPrivateKey', prefix);
    findings.push(...(await check(`${name} key`, async () => checkPrivateKey(telebirr, setting))));
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

const RSA_BITS_MIN = 2_048;

/** Our private key: its kind and size. */
function checkPrivateKey({ merchantPrivateKey }: Credentials<'TELEBIRR'>, setting: string): Result {
  const key = createPrivateKey(merchantPrivateKey);
  const weakness = weaknessOf(key);
  if (weakness === null) return ok(`${setting} has ${sizeOf(key)} bits.`);
  const makeOne = 'Make a new pair (openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048)';
  const next = `${makeOne}, have Ethio telecom register its public half, and set ${setting}.`;
  return wrong(`${setting} ${weakness}.`, next);
}

/** telebirr's public keys: their kind and size, the end of certificates, and that none is ours. */
function checkProviderKeys(
  { providerPublicKey }: ProviderEndpoint<'TELEBIRR'>,
  ourKeys: readonly string[],
  now: Date,
): Result[] {
  const setting = 'TELEBIRR_PROVIDER_PUBLIC_KEY';
  const blocks = pemBlocks(providerPublicKey);
  const ours = ourKeys.map((pem) => fingerprintOf(createPublicKey(createPrivateKey(pem))));
  if (blocks.some((block) => ours.includes(fingerprintOf(createPublicKey(block))))) {
    const found = `${setting} is the public half of our own private key, so no callback of telebirr would be verified.`;
    return [wrong(found, 'Set it to the public key that Ethio telecom has issued; ours is what they register.')];
  }
  const results = blocks.map((block): Result => {
    const weakness = weaknessOf(createPublicKey(block));
    if (weakness !== null) return wrong(`${setting} ${weakness}.`, 'Compare it with what Ethio telecom has issued.');
    if (!block.includes('BEGIN CERTIFICATE')) return ok(`${setting} has ${sizeOf(createPublicKey(block))} bits.`);
    const next = `Ask Ethio telecom for its new certificate, and put it below the old one in ${setting}.`;
    return ofValidity(`The certificate in ${setting}`, new X509Certificate(block), { now, next });
  });
  // While telebirr replaces its key, the old certificate may end.
  const isReplaced = results.some(({ status }) => status === 'ok');
  return results.map((result) =>
    isReplaced && result.status === 'wrong' ? warning(result.found, `Remove it from ${setting}.`) : result,
  );
}

const sizeOf = (key: KeyObject): number => key.asymmetricKeyDetails?.modulusLength ?? 0;

function weaknessOf(key: KeyObject): string | null {
  if (key.asymmetricKeyType !== 'rsa') return `must be an RSA key, but is ${key.asymmetricKeyType}`;
  return sizeOf(key) < RSA_BITS_MIN ? `has ${sizeOf(key)} bits, fewer than ${RSA_BITS_MIN}` : null;
}

function fingerprintOf(key: KeyObject): string {
  return key.export({ type: 'spki', format: 'der' }).toString('base64');
}
