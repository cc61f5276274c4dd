import type { ProviderDeps } from '../exchange.ts';
import type { Manifest } from '../manifest.ts';
import { connectOrders } from '../orders.ts';
import type { Adapter } from '../provider.ts';
import { connectCallback } from './callback.ts';
import { connectPayments } from './payments.ts';
import { connectPayouts } from './payouts.ts';
import { connectRefunds } from './refunds.ts';
import { MEANINGS } from './replies.ts';
import { connectStatement } from './statement.ts';
import { createTelebirrWire, type TelebirrConfig } from './wire.ts';

/** An account at telebirr. Throws at once when a key is not one. */
export function createTelebirr(deps: ProviderDeps, config: TelebirrConfig, { payoutTo }: Manifest): Adapter {
  const wire = createTelebirrWire(deps, config);
  return {
    ...connectOrders({
      secrets: [config.appKey, config.appSecret, config.merchantPrivateKey],
      payoutTo,
      meanings: MEANINGS,
      ...connectPayments(wire, deps, config),
      ...connectPayouts(wire),
      ...connectRefunds(wire),
    }),
    ...connectCallback(config),
    statement: connectStatement(wire),
  };
}
