import type { Clock } from '../lib/clock.ts';
import type { HttpClient } from '../lib/http-client.ts';
import { publicKeyOf, SANDBOX_MERCHANT_KEY, SANDBOX_PROVIDER_KEY } from '../lib/sandbox-keys.ts';
import { byLiveChannel, manifestOf, type Channel, type LiveChannel } from '../merchants/channels/channel.ts';
import { createAdapter } from './adapters.ts';
import { createChannelGuard, type ProviderMonitor } from './channel-guard.ts';
import {
  connectAccount,
  withMerchantAccounts,
  type ConnectOne,
  type StoredCredentials,
} from './credentials/accounts.ts';
import type { AccountCredentials } from './credentials/values.ts';
import { toPlainOrderId, type ProviderDeps } from './exchange.ts';
import type { Setting } from './manifest.ts';
import type { FindProvider, Provider } from './provider.ts';
import type { LiveProvider, LiveProviders } from './settings.ts';

type FindProviderOptions = {
  http: HttpClient;
  clock: Clock;
  /** The simulator's address for us. */
  simulatorUrl: string;
  /** Its address for customers' browsers, for pay pages; simulatorUrl unless given; null: unreachable. */
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
 * none is configured.
 */
export function createFindProvider(options: FindProviderOptions): FindProvider {
  const sandbox = sandboxProviders(options);
  const live = options.liveProviders ? createLiveProviders(options, options.liveProviders) : {};
  return (channel, environment) => (environment === 'sandbox' ? sandbox : live)[channel] ?? null;
}

type Providers = Readonly<Partial<Record<Channel, Provider | null>>>;

function sandboxProviders(options: FindProviderOptions): Providers {
  const deps = { http: options.http, clock: options.clock, timeoutMs: options.timeoutMs ?? 2_000 };
  const simulator = withoutSlash(options.simulatorUrl);
  const publicUrl = options.simulatorPublicUrl === undefined ? simulator : options.simulatorPublicUrl;
  const connect = (channel: LiveChannel): Provider => {
    const { sandbox, hasPlainOrderIds } = manifestOf(channel);
    const baseUrl = `${simulator}${sandbox.path}`;
    const pages = publicUrl === null ? null : `${withoutSlash(publicUrl)}${sandbox.path}`;
    const config = { ...sandboxValues(channel, pages), baseUrl, isSandbox: true };
    const decide = decidePayments(deps, baseUrl);
    return {
      ...createAdapter(channel, deps, config),
      callbackBaseUrl: options.simulatorCallbackUrl,
      decide: (orderId, decision) => decide(hasPlainOrderIds ? toPlainOrderId(orderId) : orderId, decision),
    };
  };
  return byLiveChannel(connect);
}

/** The values of a provider's settings in the sandbox. `pages`: where its pages are; null: unreachable. */
function sandboxValues(channel: LiveChannel, pages: string | null): Record<string, string | null> {
  const { service, credentials, sandbox } = manifestOf(channel);
  const valueOf = (field: string, setting: Setting): string | null => {
    switch (setting.kind) {
      case 'text':
        return sandbox.credentials[field] ?? '';
      case 'page':
        return pages && `${pages}${setting.sandboxPath}`;
      case 'privateKey':
        return SANDBOX_MERCHANT_KEY;
      case 'publicKeys':
        return publicKeyOf(SANDBOX_PROVIDER_KEY);
      case 'choice':
        return setting.of[0];
    }
  };
  const settings = Object.entries<Setting>({ ...service, ...credentials });
  return Object.fromEntries(settings.map(([field, setting]) => [field, valueOf(field, setting)]));
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
  return byLiveChannel((channel) => createLiveProvider(options, channel, settings[channel]));
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
  const connect = (account: AccountCredentials) => connectAccount(connectOne, { channel, connection }, account);
  const platform = payIn && connect({ payIn, payOut });
  const accounts = credentials && { credentials, channel, clock, connect };
  return withMerchantAccounts({ platform, accounts, channel, connection });
}

function withoutSlash(url: string): string {
  return url.replace(/\/{1,9}$/, '');
}
