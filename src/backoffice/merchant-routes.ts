import { operatorReadRoute, operatorRoute } from '../access/operator-route.ts';
import { MerchantParams, Reason } from '../access/operator-schema.ts';
import type { Route } from '../http/route.ts';
import { readBalance } from '../ledger/balance.ts';
import type { Database } from '../lib/db.ts';
import { toBirr } from '../lib/money.ts';
import type { MerchantScope } from '../lib/scope.ts';
import { isLiveChannel } from '../merchants/channels/channel.ts';
import { listChannels, presentChannel, type MerchantChannel } from '../merchants/channels/queries.ts';
import { presentMerchant, readMerchant, setMerchantStatus, type Merchant } from '../merchants/operations.ts';
import * as schema from '../merchants/schema.ts';
import { resumeUnsentRefunds } from '../payouts/refunds/workflow.ts';
import { resumeUnsent } from '../payouts/withdrawals/workflow.ts';
import type { FindProvider } from '../providers/provider.ts';
import type { LiveProvider, LiveProviders } from '../providers/settings.ts';

/** `liveProviders`: by the settings. */
type Deps = { db: Database; findProvider: FindProvider; liveProviders?: LiveProviders };

/** One merchant across the slices: its balance and channels, and whether it is suspended. */
export function merchantAdministrationRoutes(deps: Deps): Route[] {
  return [
    detailRoute(deps),
    statusRoute('SUSPENDED', {
      operationId: 'opsSuspendMerchant',
      cli: { name: 'merchants suspend', confirm: true },
      summary: 'Suspend a merchant: its keys are rejected within 5 s, its checkout pages take no payments',
    }),
    statusRoute('ACTIVE', {
      operationId: 'opsResumeMerchant',
      cli: { name: 'merchants resume', confirm: true },
      summary: 'Resume a suspended merchant, and the withdrawals that were approved and not sent',
    }),
  ];
}

function detailRoute({ db, findProvider, liveProviders }: Deps): Route {
  const readEnvironment = async (scope: MerchantScope) => {
    const [balance, channels] = await Promise.all([readBalance(db, scope), listChannels(db, scope, findProvider)]);
    return {
      available: toBirr(balance.availableSantim),
      reserved: toBirr(balance.reservedSantim),
      feesToDate: toBirr(balance.feesSantim),
      netSettled: toBirr(balance.settledSantim),
      channels: channels.map((one) => {
        const provider = findProvider(one.channel, scope.environment);
        const account = one.hasOwnAccount ? 'OWN' : provider && !provider.needsOwnAccount ? 'PLATFORM' : null;
        const missingSettings = scope.environment === 'live' ? missingFor(one, liveProviders) : [];
        return { ...presentChannel(one), account, missingSettings };
      }),
    };
  };
  return operatorReadRoute('GET /api/ops/merchants/:merchantId', {
    operationId: 'opsGetMerchant',
    cli: 'merchants get',
    summary: 'Get a merchant with its balance and channels in both environments',
    params: MerchantParams,
    responses: { 200: schema.MerchantDetail },
    handle: async ({ params: { merchantId } }) => {
      const merchant = await readMerchant(db, merchantId);
      const [sandbox, live] = await Promise.all([
        readEnvironment({ merchantId, environment: 'sandbox' }),
        readEnvironment({ merchantId, environment: 'live' }),
      ]);
      const data = { ...presentMerchant(merchant), currency: 'ETB', sandbox, live };
      return { message: 'Merchant retrieved', data };
    },
  });
}

/** A merchant with its own account needs no account of the platform. */
function missingFor({ channel, hasOwnAccount }: MerchantChannel, providers: Partial<LiveProviders> = {}): string[] {
  const settings: LiveProvider | undefined = isLiveChannel(channel) ? providers[channel] : undefined;
  return (hasOwnAccount ? settings?.missingService : settings?.missing) ?? [];
}

function statusRoute(status: Merchant['status'], declared: Pick<Route, 'operationId' | 'cli' | 'summary'>): Route {
  const verb = status === 'SUSPENDED' ? 'suspend' : 'resume';
  return operatorRoute(`POST /api/ops/merchants/:merchantId/${verb}`, {
    ...declared,
    action: `merchant.${verb}`,
    params: MerchantParams,
    body: Reason,
    responses: { 200: schema.Merchant },
    run: async ({ tx }, { params: { merchantId } }) => {
      const merchant = await readMerchant(tx.trx, merchantId);
      const changed = await setMerchantStatus(tx.trx, merchantId, status);
      if (changed && status === 'ACTIVE') {
        await resumeUnsent(tx, merchantId);
        await resumeUnsentRefunds(tx, merchantId);
      }
      const change = { before: { status: merchant.status }, after: { status } };
      const audit = { resourceType: 'merchant', resourceId: merchantId, merchantId, ...change } as const;
      return {
        message: status === 'SUSPENDED' ? 'Merchant suspended' : 'Merchant resumed',
        data: presentMerchant({ ...merchant, status }),
        audit: changed ? audit : null,
      };
    },
  });
}
