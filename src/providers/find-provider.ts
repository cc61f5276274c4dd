import type { Clock } from '../lib/clock.ts';
import type { HttpClient } from '../lib/http-client.ts';
import { SANDBOX_AWASH, SANDBOX_CBE_BIRR, SANDBOX_PATHS, SANDBOX_TELEBIRR } from '../lib/sandbox-providers.ts';
import type { Channel } from '../merchants/channels/channel.ts';
import { createCbeBirr } from './cbe-birr.ts';
import { createChannelGuard, type ProviderMonitor } from './channel-guard.ts';
import type { FindProvider, Provider } from './provider.ts';
import {
  LIVE_CHANNELS,
  type Credentials,
  type LiveChannel,
  type LiveProvider,
  type LiveProviders,
} from './settings.ts';
import { createTelebirr } from './telebirr.ts';

type FindProviderOptions = {
  http: HttpClient;
  clock: Clock;
  /** The simulator's address for us. */
  simulatorUrl: string;
  /** Its address for customers' browsers, for telebirr's pay page; simulatorUrl unless given; null: unreachable. */
  simulatorPublicUrl?: string | null;
  /** The limit of one call in the sandbox: 2 s unless given. */
  timeoutMs?: number;
  /** Live providers by the settings; none unless given. */
  liveProviders?: LiveProviders;
  /** Of live providers. */
  monitor?: ProviderMonitor;
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
  return {
    TELEBIRR: createTelebirr(deps, {
      ...SANDBOX_TELEBIRR,
      baseUrl: `${baseUrl}${SANDBOX_PATHS.TELEBIRR}`,
      payPageUrl: simulatorPublicUrl === null ? null : `${withoutSlash(simulatorPublicUrl)}${payPage}`,
      phoneInCallbackInfo: true,
    }),
    CBE_BIRR: createCbeBirr(deps, { ...SANDBOX_CBE_BIRR, baseUrl: `${baseUrl}${SANDBOX_PATHS.CBE_BIRR}` }),
    AWASH: createCbeBirr(deps, { ...SANDBOX_AWASH, baseUrl: `${baseUrl}${SANDBOX_PATHS.AWASH}` }, 'AWASH'),
  };
}

type LiveDeps = Pick<FindProviderOptions, 'http' | 'clock' | 'monitor'>;

function createLiveProviders(deps: LiveDeps, settings: LiveProviders): Providers {
  return Object.fromEntries(
    LIVE_CHANNELS.map((channel) => [channel, createLiveProvider(deps, channel, settings[channel])]),
  );
}

/** Payments and payouts of one channel, each on its own account; null while a setting is missing. */
function createLiveProvider(
  { http, clock, monitor }: LiveDeps,
  channel: LiveChannel,
  { connection, endpoint, payIn, payOut }: LiveProvider,
): Provider | null {
  if (!endpoint || !payIn) return null;
  const guard = createChannelGuard(channel, { http, clock, connection, monitor });
  const deps = { http: guard.http, clock, timeoutMs: connection.timeoutMs };
  const connect = (account: Credentials): Provider =>
    channel === 'TELEBIRR'
      ? createTelebirr(deps, { ...endpoint, ...account } as Parameters<typeof createTelebirr>[1])
      : createCbeBirr(deps, { ...endpoint, ...account } as Parameters<typeof createCbeBirr>[1], channel);
  const { callbackBaseUrl } = connection;
  const [payments, payouts] = [connect(payIn), payOut && connect(payOut)];
  if (!payouts) return guard.protect({ ...payments, callbackBaseUrl, capabilities: { payoutTo: [] } });
  const { payout, queryPayout, capabilities } = payouts;
  return guard.protect({
    ...payments,
    callbackBaseUrl,
    payout,
    queryPayout,
    capabilities,
    parseCallback: (callback) => {
      const parsed = payments.parseCallback(callback);
      return parsed.verified ? parsed : payouts.parseCallback(callback);
    },
  });
}

function withoutSlash(url: string): string {
  return url.replace(/\/{1,9}$/, '');
}
