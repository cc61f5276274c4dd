import { readConfig } from '../../src/config.ts';
import { anyFreePort } from '../../src/lib/ports.ts';
import { startBackOffice, type BackOffice } from '../backoffice/back-office.ts';
import { createLiveAccounts } from '../journey/accounts.ts';
import { startTestSimulator, type TestSimulator } from '../support/simulator.ts';
import { startAccountGateway, type AccountGateway } from './account-gateway.ts';

/** The credentials of an account. */
export type Values = Record<string, string>;

/** A back office with live providers: telebirr has one account, CBE Birr those of the gateway; Awash is not configured. */
export type CredentialOffice = {
  backOffice: BackOffice;
  simulator: TestSimulator;
  gateway: AccountGateway;
  telebirr: Values;
  close: () => Promise<void>;
};

/** A till that the gateway accepts once its hash key is added. */
export const aTill = (tillCode: string, hashKey = 'planted-hash-key'): Values => {
  return { companyName: 'Coffee', tillCode, token: `token-${tillCode}`, hashKey };
};

export async function startCredentialOffice(more: Values = {}): Promise<CredentialOffice> {
  const port = await anyFreePort();
  const { settings, accounts } = createLiveAccounts(`http://127.0.0.1:${port}`);
  const simulator = await startTestSimulator({ port, accounts });
  const gateway = await startAccountGateway(simulator.url);
  const names = ['BASE_URL', 'PAY_PAGE_URL', 'PROVIDER_PUBLIC_KEY', 'PAYOUTS'].map((name) => `TELEBIRR_${name}`);
  const { liveProviders } = readConfig({
    DATABASE_URL: 'postgresql://localhost/meskot',
    TEMPORAL_ADDRESS: 'localhost:7233',
    ...Object.fromEntries(names.map((name) => [name, settings[name]])),
    CBE_BIRR_BASE_URL: gateway.url,
    CBE_BIRR_TIMEOUT_MS: '500',
    ...more,
  });
  const backOffice = await startBackOffice({ liveProviders });
  const of = (name: string): string => settings[`TELEBIRR_${name}`] ?? '';
  return {
    backOffice,
    simulator,
    gateway,
    telebirr: {
      appKey: of('APP_KEY'),
      appSecret: of('APP_SECRET'),
      appId: of('APP_ID'),
      merchantCode: of('MERCHANT_CODE'),
      merchantPrivateKey: of('MERCHANT_PRIVATE_KEY'),
    },
    close: async () => {
      await backOffice.close();
      await gateway.close();
      await simulator.close();
    },
  };
}
