import type { ProviderDeps } from '../exchange.ts';
import type { Manifest } from '../manifest.ts';
import { connectOrders } from '../orders.ts';
import type { Adapter } from '../provider.ts';
import { connectCallback } from './callback.ts';
import { connectPayments } from './payments.ts';
import { connectPayouts } from './payouts.ts';
import { connectStatement } from './statement.ts';
import { createCbeBirrWire, MEANINGS, type CbeBirrConfig } from './wire.ts';

/** A till at CBE Birr, or at a provider that shares its messages. */
export function createCbeBirr(deps: ProviderDeps, config: CbeBirrConfig, { payoutTo }: Manifest): Adapter {
  const wire = createCbeBirrWire(deps, config);
  return {
    ...connectOrders({
      secrets: [config.token, config.hashKey],
      payoutTo,
      meanings: MEANINGS,
      ...connectPayments(wire),
      ...connectPayouts(wire),
    }),
    ...connectCallback(config),
    statement: connectStatement(wire),
  };
}
