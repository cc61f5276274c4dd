import type { Clock } from '../lib/clock.ts';
import type { HttpClient } from '../lib/http-client.ts';
import { SANDBOX_AWASH, SANDBOX_CBE_BIRR, SANDBOX_PATHS, SANDBOX_TELEBIRR } from '../lib/sandbox-providers.ts';
import type { Channel } from '../merchants/channels/channel.ts';
import { createCbeBirr } from './cbe-birr.ts';
import type { FindProvider, Provider } from './provider.ts';
import { createTelebirr } from './telebirr.ts';

type FindProviderOptions = {
  http: HttpClient;
  clock: Clock;
  /** The simulator's address for us. */
  simulatorUrl: string;
  /** Its address for customers' browsers, for telebirr's pay page; simulatorUrl unless given; null: unreachable. */
  simulatorPublicUrl?: string | null;
  /** The limit of one call: 2 s unless given. */
  timeoutMs?: number;
};

/**
 * Sandbox payments go to the simulator, with the sandbox's own credentials. Live channels have no configuration yet,
 * and M-Pesa is announced only: both are null.
 */
export function createFindProvider(options: FindProviderOptions): FindProvider {
  const deps = { http: options.http, clock: options.clock, timeoutMs: options.timeoutMs ?? 2_000 };
  const baseUrl = withoutSlash(options.simulatorUrl);
  const { simulatorPublicUrl = baseUrl } = options;
  const payPage = `${SANDBOX_PATHS.TELEBIRR}/payment/web/paygate`;
  const sandbox: Readonly<Record<Channel, Provider | null>> = {
    TELEBIRR: createTelebirr(deps, {
      ...SANDBOX_TELEBIRR,
      baseUrl: `${baseUrl}${SANDBOX_PATHS.TELEBIRR}`,
      payPageUrl: simulatorPublicUrl === null ? null : `${withoutSlash(simulatorPublicUrl)}${payPage}`,
      phoneInCallbackInfo: true,
    }),
    CBE_BIRR: createCbeBirr(deps, { ...SANDBOX_CBE_BIRR, baseUrl: `${baseUrl}${SANDBOX_PATHS.CBE_BIRR}` }),
    AWASH: createCbeBirr(deps, { ...SANDBOX_AWASH, baseUrl: `${baseUrl}${SANDBOX_PATHS.AWASH}` }, 'AWASH'),
    MPESA: null,
  };
  return (channel, environment) => (environment === 'sandbox' ? sandbox[channel] : null);
}

function withoutSlash(url: string): string {
  return url.replace(/\/{1,9}$/, '');
}
