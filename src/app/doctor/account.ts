import { newId } from '../../lib/ids.ts';
import type { ProviderDeps } from '../../providers/exchange.ts';
import { createAdapter } from '../../providers/find-provider.ts';
import { REJECTED_WITH } from '../../providers/orders.ts';
import type { Provider, Unknown } from '../../providers/provider.ts';
import type { LiveChannel, LiveProviders } from '../../providers/settings.ts';
import { createTelebirrToken } from '../../providers/telebirr-call.ts';
import { isSkewed, ok, type Result, wrong } from './check.ts';
import { ofNetworkFailure, type Server } from './reach.ts';

/** The platform's account for payments or for payouts at a provider. */
export type Account = {
  channel: LiveChannel;
  /** The provider, as a sentence names it. */
  label: string;
  /** `TELEBIRR_` or `TELEBIRR_PAYOUT_`: how the names of its settings begin. */
  prefix: string;
  isPayout: boolean;
  server: Server;
  /** Our clock minus the provider's; null while that is unknown. */
  skewSeconds: number | null;
};

/** telebirr's token: whether the app key and secret are valid. */
export async function checkToken(
  deps: ProviderDeps,
  config: Parameters<typeof createTelebirrToken>[1],
  account: Account,
): Promise<Result> {
  const token = await createTelebirrToken(deps, config).get(AbortSignal.timeout(deps.timeoutMs));
  if (token.kind === 'token') return ok(`${account.label} has issued a token to the app key ${masked(config.appKey)}.`);
  const { prefix } = account;
  const isRejected = token.reason === 'http' && /^status 4(?!08|29)/.test(token.message);
  if (!isRejected) return ofUnknown(token, account);
  const names = `${prefix}APP_KEY or ${prefix}APP_SECRET`;
  return ofRejection(
    `${account.label} rejects ${names} (${token.message})`,
    account,
    `Compare both with what ${account.label} has issued.`,
  );
}

/**
 * A signed query of an order that does not exist: harmless, and answered with "not found" only if token, signature and
 * account are right.
 */
export async function checkQuery(provider: Provider, account: Account): Promise<Result> {
  const outcome = account.isPayout ? await provider.queryPayout(newId('wd')) : await provider.query(newId('pat'));
  if (outcome.kind === 'pending' || outcome.kind === 'not-found') {
    return ok(
      `A signed query of an order that does not exist was answered as it should be (${codeIn(outcome.providerCode ?? '')}).`,
    );
  }
  const { label } = account;
  if (outcome.kind !== 'unknown') {
    const next = `Ask ${label} why: reconciliation would trust such answers.`;
    return wrong(`${label} reports a payment for an order that does not exist.`, next);
  }
  if (!outcome.message.startsWith(REJECTED_WITH)) return ofUnknown(outcome, account);
  const code = codeIn(outcome.message.slice(REJECTED_WITH.length));
  return ofRejection(`${label} rejects a signed query (${code})`, account, nextOfSignature(account));
}

function nextOfSignature({ channel, prefix, label }: Account): string {
  if (channel !== 'TELEBIRR') {
    return `Compare ${prefix}TOKEN, ${prefix}HASH_KEY, ${prefix}TILL_CODE and ${prefix}COMPANY_NAME with what ${label} has issued.`;
  }
  return (
    `Have Ethio telecom compare the registered public key with that of ${prefix}MERCHANT_PRIVATE_KEY (openssl pkey ` +
    `-pubout), and check ${prefix}APP_ID, ${prefix}MERCHANT_CODE and TELEBIRR_SIGNATURE_SCHEME.`
  );
}

/** A rejected call: a wrong clock is the first thing to correct. */
function ofRejection(found: string, { skewSeconds, label }: Account, next: string): Result {
  if (!isSkewed(skewSeconds)) return wrong(`${found}.`, next);
  const off = `${Math.round(Math.abs(skewSeconds ?? 0))} s ${(skewSeconds ?? 0) > 0 ? 'ahead of' : 'behind'}`;
  return wrong(
    `${found}; the clock of this machine is ${off} ${label}'s, for which messages are rejected too.`,
    `Set the clock by a time server (chronyc makestep) and run it again. ${next}`,
  );
}

/** No usable reply: none in time, none at all, or one that is not of this provider. */
function ofUnknown({ reason, message }: Unknown, { label, server }: Account): Result {
  if (reason === 'timeout') return ofNetworkFailure('TIMEOUT', server);
  if (reason === 'network') return ofNetworkFailure(message, server);
  if (reason === 'http' && message === 'status 429') {
    const setting = server.setting.replace('BASE_URL', 'CALLS_PER_SECOND');
    const next = `Set ${setting} to what the contract allows, divided by the number of API and worker processes.`;
    return wrong(`${label} limits our calls (status 429).`, next);
  }
  if (reason === 'http') {
    const next = `Ask ${label} whether its service is down, and check ${server.setting}.`;
    return wrong(`${label} answers without a result (${message}).`, next);
  }
  return wrong(`The reply is not of ${label}'s documented form.`, `Check the path and the host of ${server.setting}.`);
}

/** A provider's code, which is any text: it is printed without control characters, and not at any length. */
const codeIn = (text: string): string => text.replaceAll(/[^\w .…-]/g, '').slice(0, 40);

/** An id, of which the last four characters tell which one it is. */
const masked = (id: string): string => `…${id.slice(-4)}`;

/** The adapter of the platform's account for payments or payouts; null where its settings are missing. */
export function connectAccount(
  deps: ProviderDeps,
  { channel, isPayout }: Pick<Account, 'channel' | 'isPayout'>,
  providers: LiveProviders,
): Provider | null {
  const { endpoint, payIn, payOut } = providers[channel];
  const account = isPayout ? payOut : payIn;
  return endpoint && account && createAdapter(channel, deps, { ...endpoint, ...account });
}
