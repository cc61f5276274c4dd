import type { Clock } from '../lib/clock.ts';
import type { HttpClient } from '../lib/http-client.ts';
import { SANDBOX_AWASH, SANDBOX_CBE_BIRR, SANDBOX_PATHS, SANDBOX_TELEBIRR } from '../lib/sandbox-providers.ts';
import type { Channel } from '../merchants/channels/channel.ts';
import { createCbeBirr } from './cbe-birr.ts';
import { createChannelGuard, type ProviderMonitor } from './channel-guard.ts';
import {
  connectAccount,
  withMerchantAccounts,
  type ConnectOne,
  type StoredCredentials,
} from './credentials/accounts.ts';
import type { AccountCredentials } from './credentials/values.ts';
import { toPlainOrderId, type ProviderDeps } from './exchange.ts';
import type { FindProvider, PayerDecision, Provider } from './provider.ts';
import {
  LIVE_CHANNELS,
  type Credentials,
  type LiveChannel,
  type LiveProvider,
  type LiveProviders,
  type ProviderEndpoint,
} from './settings.ts';
import { createTelebirr } from './telebirr.ts';

type FindProviderOptions = {
  http: HttpClient;
  clock: Clock;
  /** The simulator's address for us. */
  simulatorUrl: string;
  /** Its address for customers' browsers, for telebirr's pay page; simulatorUrl unless given; null: unreachable. */
  simulatorPublicUrl?: string | null;
  /** Where the simulator calls us; the public base URL unless given. */
  simulatorCallbackUrl?: string | undefined;
  /** The limit of one call in the sandbox: 2 s unless given. */
  timeoutMs?: number;
  liveProviders?: LiveProviders;
  monitor?: ProviderMonitor;
  /** The credentials of merchants' own accounts; without it only the platform's accounts are used. */
  credentials?: StoredCredentials;
};

/**
 * Sandbox payments go to the simulator, with the sandbox's own credentials; live ones to the configured provider. Null where
 * none is configured; M-Pesa is announced only.
 */
export function createFindProvider(options: FindProviderOptions): FindProvider {
  const sandbox = sandboxProviders(options);
  const live = options.liveProviders ? createLiveProviders(options, options.liveProviders) : {};
  return (channel, environment) => (environment === 'sandbox' ? sandbox : live)[channel] ?? null;
}

type Providers = Readonly<Partial<Record<Channel, Provider | null>>>;

function sandboxProviders(options: FindProviderOptions): Providers {
  const deps = { http: options.http, clock: options.clock, timeoutMs: options.timeoutMs ?? 2_000 };
  const baseUrl = withoutSlash(options.simulatorUrl);
  const { simulatorPublicUrl = baseUrl } = options;
  const payPage = `${SANDBOX_PATHS.TELEBIRR}/payment/web/paygate`;
  const telebirr = createTelebirr(deps, {
    ...SANDBOX_TELEBIRR,
    baseUrl: `${baseUrl}${SANDBOX_PATHS.TELEBIRR}`,
    payPageUrl: simulatorPublicUrl === null ? null : `${withoutSlash(simulatorPublicUrl)}${payPage}`,
    phoneInCallbackInfo: true,
  });
  const cbeBirr = createCbeBirr(deps, { ...SANDBOX_CBE_BIRR, baseUrl: `${baseUrl}${SANDBOX_PATHS.CBE_BIRR}` });
  const awash = createCbeBirr(deps, { ...SANDBOX_AWASH, baseUrl: `${baseUrl}${SANDBOX_PATHS.AWASH}` }, 'AWASH');
  const decideAt = (channel: LiveChannel) => decidePayments(deps, `${baseUrl}${SANDBOX_PATHS[channel]}`);
  const own = { callbackBaseUrl: options.simulatorCallbackUrl };
  const decide = async (id: string, decision: PayerDecision) => decideAt('TELEBIRR')(toPlainOrderId(id), decision);
  return {
    TELEBIRR: { ...telebirr, ...own, decide },
    CBE_BIRR: { ...cbeBirr, ...own, decide: decideAt('CBE_BIRR') },
    AWASH: { ...awash, ...own, decide: decideAt('AWASH') },
  };
}

/** Sends what a payer decides to the simulator. */
function decidePayments({ http, timeoutMs }: ProviderDeps, baseUrl: string): NonNullable<Provider['decide']> {
  return async (orderId, decision) => {
    const result = await http.send({
      method: 'POST',
      url: `${baseUrl}/orders/${orderId}/decision`,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ decision }),
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (result.kind === 'failed') return 'unknown';
    if (result.status === 200) return 'decided';
    return result.status === 409 ? 'not-waiting' : 'unknown';
  };
}

function createLiveProviders(options: FindProviderOptions, settings: LiveProviders): Providers {
  return Object.fromEntries(
    LIVE_CHANNELS.map((channel) => [channel, createLiveProvider(options, channel, settings[channel])]),
  );
}

/** A live channel: the platform's account, and those of merchants. Null while a setting is missing that all need. */
function createLiveProvider(
  { http, clock, credentials, monitor }: FindProviderOptions,
  channel: LiveChannel,
  settings: LiveProvider,
): Provider | null {
  const { connection, endpoint, payIn, payOut } = settings;
  if (!endpoint || (!payIn && !credentials)) return null;
  const guard = createChannelGuard(channel, { http, clock, connection, monitor });
  const deps = { http: guard.http, clock, timeoutMs: connection.timeoutMs };
  const connectOne: ConnectOne = (account) => guard.protect(createAdapter(channel, deps, { ...endpoint, ...account }));
  const connect = (account: AccountCredentials) => connectAccount(connectOne, connection, account);
  const platform = payIn && connect({ payIn, payOut });
  const accounts = credentials && { credentials, channel, clock, connect };
  return withMerchantAccounts({ platform, accounts, channel, connection });
}

/** The adapter of one account, without rate limit, circuit breaker and metrics. */
export function createAdapter(
  channel: LiveChannel,
  deps: ProviderDeps,
  config: ProviderEndpoint & Credentials,
): Provider {
  // Endpoint and credentials are the channel's own: its schemas have validated them.
  return channel === 'TELEBIRR'
    ? createTelebirr(deps, config as Parameters<typeof createTelebirr>[1])
    : createCbeBirr(deps, config as Parameters<typeof createCbeBirr>[1], channel);
}

function withoutSlash(url: string): string {
  return url.replace(/\/{1,9}$/, '');
}
