import { readConfig, type Variables } from '../../src/config.ts';
import { systemClock, type Clock } from '../../src/lib/clock.ts';
import { createHttpClient } from '../../src/lib/http-client.ts';
import type { ProviderMonitor } from '../../src/providers/channel-guard.ts';
import { createFindProvider } from '../../src/providers/find-provider.ts';
import type { Provider } from '../../src/providers/provider.ts';
import { SANDBOX_AWASH, SANDBOX_CBE_BIRR, SANDBOX_PATHS, SANDBOX_TELEBIRR } from '../support/sandbox-accounts.ts';
import type { SandboxChannel } from './sandbox.ts';

/** Settings of live providers that lead to a simulator, with the accounts it knows. */
export function liveSettings(simulatorUrl: string): Variables {
  const till = (prefix: string, account: typeof SANDBOX_CBE_BIRR | typeof SANDBOX_AWASH, path: string) => ({
    [`${prefix}_BASE_URL`]: `${simulatorUrl}${path}`,
    [`${prefix}_COMPANY_NAME`]: account.companyName,
    [`${prefix}_TILL_CODE`]: account.tillCode,
    [`${prefix}_TOKEN`]: account.token,
    [`${prefix}_HASH_KEY`]: account.hashKey,
    [`${prefix}_PAYOUTS`]: 'true',
    [`${prefix}_REFUNDS`]: 'true',
  });
  return {
    TELEBIRR_BASE_URL: `${simulatorUrl}${SANDBOX_PATHS.TELEBIRR}`,
    TELEBIRR_PAY_PAGE_URL: `${simulatorUrl}${SANDBOX_PATHS.TELEBIRR}/payment/web/paygate`,
    TELEBIRR_APP_KEY: SANDBOX_TELEBIRR.appKey,
    TELEBIRR_APP_SECRET: SANDBOX_TELEBIRR.appSecret,
    TELEBIRR_APP_ID: SANDBOX_TELEBIRR.appId,
    TELEBIRR_MERCHANT_CODE: SANDBOX_TELEBIRR.merchantCode,
    TELEBIRR_MERCHANT_PRIVATE_KEY: SANDBOX_TELEBIRR.merchantPrivateKey,
    TELEBIRR_PROVIDER_PUBLIC_KEY: SANDBOX_TELEBIRR.providerPublicKey,
    TELEBIRR_PAYOUTS: 'true',
    TELEBIRR_REFUNDS: 'true',
    ...till('CBE_BIRR', SANDBOX_CBE_BIRR, SANDBOX_PATHS.CBE_BIRR),
    ...till('AWASH', SANDBOX_AWASH, SANDBOX_PATHS.AWASH),
  };
}

type Options = { clock?: Clock; settings?: Variables; monitor?: ProviderMonitor };

/** The live providers of one process, pointed at a simulator. */
export function connectLive(simulatorUrl: string, { clock = systemClock, settings, monitor }: Options = {}) {
  const http = createHttpClient();
  const env = { DATABASE_URL: 'postgresql://localhost/meskot', TEMPORAL_ADDRESS: 'localhost:7233' };
  const { liveProviders } = readConfig({ ...env, ...liveSettings(simulatorUrl), ...settings });
  const find = createFindProvider({ http, clock, simulatorUrl, liveProviders, ...(monitor && { monitor }) });
  const live = (channel: SandboxChannel): Provider => {
    const provider = find(channel, 'live');
    if (!provider) throw new Error(`no live provider for ${channel}`);
    return provider;
  };
  return { find, live, close: () => http.close() };
}
