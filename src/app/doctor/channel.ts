import { isDeepStrictEqual } from 'node:util';

import { startOfAddisDay } from '../../lib/dates.ts';
import type { HttpClient } from '../../lib/http-client.ts';
import { credentialsOf, type LiveChannel, PROVIDER_FIELDS } from '../../providers/settings.ts';
import { type Account, checkQuery, checkToken, connectAccount } from './account.ts';
import {
  check,
  type DoctorParts,
  type Finding,
  hasWrong,
  ofSkew,
  ofValidity,
  ok,
  type Result,
  warning,
  wrong,
} from './check.ts';
import { checkPrivateKey, checkProviderKeys } from './keys.ts';
import { checkCallback } from './public-address.ts';
import { ask, checkCertificate, type HttpReply, type NetworkFailure, ofNetworkFailure, serverOf } from './reach.ts';

const LABELS = { TELEBIRR: 'telebirr', CBE_BIRR: 'CBE Birr', AWASH: 'Awash' } as const;

type ChannelParts = DoctorParts & { http: HttpClient; channel: LiveChannel };

/**
 * A live channel: its settings, and with them its keys, the provider's service, our accounts there, and the address of
 * callbacks. `isRequired`: it must be configured.
 */
export async function checkChannel(parts: ChannelParts, isRequired: boolean): Promise<Finding[]> {
  const { channel, config } = parts;
  const { endpoint, payIn, payOut, connection } = config.liveProviders[channel];
  const settings = check(`${channel} settings`, async () => settingsResult(parts, isRequired));
  if (!endpoint) return settings;
  const label = LABELS[channel];
  const asked = ask(endpoint.baseUrl, { clock: parts.clock, timeoutMs: connection.timeoutMs });
  const service = [
    check(`${channel} service`, () => serviceResult(parts, endpoint.baseUrl, asked)),
    check(`${channel} clock`, async () => clockResult(await asked, label)),
  ];
  const reply = await asked;
  const account = {
    channel,
    label,
    server: serverOf(endpoint.baseUrl, `${channel}_BASE_URL`),
    skewSeconds: reply.kind === 'reply' ? reply.skewSeconds : null,
  };
  const payments = payIn
    ? accountFindings(parts, { ...account, prefix: `${channel}_`, isPayout: false })
    : Promise.resolve([]);
  const isOwn = payOut !== null && !isDeepStrictEqual(payOut, payIn);
  const payout = { ...account, prefix: isOwn ? `${channel}_PAYOUT_` : `${channel}_`, isPayout: true };
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

function settingsResult({ channel, config, env }: ChannelParts, isRequired: boolean): Result {
  const { missing, endpoint, payIn, payOut, connection } = config.liveProviders[channel];
  const names = Object.keys(PROVIDER_FIELDS).filter((name) => name.startsWith(`${channel}_`));
  const isGiven = (name: string): boolean => Boolean(env[name] ?? env[`${name}_FILE`]);
  const next = 'docs/operations/settings.md lists them under "Live providers".';
  if (missing.length === 0) {
    const account = isDeepStrictEqual(payIn, payOut) ? 'the same account' : 'an account of their own';
    return ok(`All are set; payouts ${connection.payouts ? `use ${account}` : 'are not part of the contract'}.`);
  }
  if (!names.some(isGiven)) {
    const found = 'Not configured: the channel takes no real money.';
    return isRequired ? wrong(found, `Set ${missing.join(', ')}: ${next}`) : ok(found);
  }
  const found = `${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} not set, or wrong.`;
  const hasNoAccount = endpoint && missing.length === Object.keys(credentialsOf(channel).shape).length;
  if (hasNoAccount) return warning(found, `Set them, unless every merchant has an account of its own: ${next}`);
  return wrong(found, `Until they are right the channel takes no real money: ${next}`);
}

/** The day on which the provider's credentials end, where the settings have it. */
function expiryResult({ channel, config, clock }: ChannelParts): Result | null {
  const day = config.liveProviders[channel].connection.credentialsExpireOn;
  if (day === undefined) return null;
  const name = `${channel}_CREDENTIALS_EXPIRE_ON`;
  const validity = { validFrom: new Date(0).toISOString(), validTo: startOfAddisDay(day).toISOString() };
  const next = `Request new credentials of the provider, and set them with their new ${name}.`;
  return ofValidity(`What the provider has issued (${name})`, validity, { now: clock(), next });
}

/** The connection to the provider, with its certificate where it is over TLS. */
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

/** telebirr's key and token, and for every provider a signed query: not made where the token already shows what is wrong. */
async function accountFindings(parts: ChannelParts, account: Account): Promise<Finding[]> {
  const { channel, config, clock, http } = parts;
  const { isPayout, prefix } = account;
  const name = isPayout ? `${channel} payout` : channel;
  const deps = { http, clock, timeoutMs: config.liveProviders[channel].connection.timeoutMs };
  const { endpoint, payIn, payOut } = config.liveProviders.TELEBIRR;
  const telebirr = channel === 'TELEBIRR' && endpoint && (isPayout ? payOut : payIn);
  // Payouts on the account of payments have no token of their own.
  const hasOwnToken = telebirr && (!isPayout || prefix.endsWith('PAYOUT_'));
  const findings: Finding[] = [];
  if (hasOwnToken) {
    const setting = `${prefix}MERCHANT_PRIVATE_KEY`;
    findings.push(...(await check(`${name} key`, async () => checkPrivateKey(telebirr, endpoint, setting))));
    // The adapter rejects what is not an RSA key.
    if (hasWrong(findings)) return findings;
    const token = await check(`${name} token`, () =>
      checkToken(deps, { ...endpoint, ...telebirr, payPageUrl: null }, account),
    );
    findings.push(...token);
    if (hasWrong(token)) return findings;
  }
  const provider = connectAccount(deps, account, config.liveProviders);
  if (!provider) return findings;
  return [...findings, ...(await check(`${name} query`, () => checkQuery(provider, account)))];
}
