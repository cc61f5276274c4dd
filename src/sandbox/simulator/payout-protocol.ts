import type { SimulatedChannel } from './faults.ts';
import type { PlacedPayout } from './payout-store.ts';
import { silenceOf, type Payout, type PayoutRequest } from './payout.ts';
import type { WireContext, WireDeps } from './protocol.ts';

/** Takes a payout on; null when nobody is to be told of it for now: the caller already has its silence. */
export async function placePayout(
  deps: WireDeps,
  ctx: WireContext,
  request: PayoutRequest,
): Promise<PlacedPayout | null> {
  const placed = await deps.payouts.place(request);
  return placed.kind === 'placed' && keepsSilent(deps, ctx, placed.payout) ? null : placed;
}

/** Looks a payout up as a query does; null as above. */
export function queryPayout(
  deps: WireDeps,
  ctx: WireContext,
  key: { channel: SimulatedChannel; orderId: string },
): { kind: 'found'; payout: Payout } | { kind: 'not-found' } | null {
  const payout = deps.payouts.find(key.channel, key.orderId);
  if (!payout) return { kind: 'not-found' };
  payout.queries += 1;
  return keepsSilent(deps, ctx, payout) ? null : { kind: 'found', payout };
}

function keepsSilent(deps: WireDeps, ctx: WireContext, payout: Payout): boolean {
  const silence = silenceOf(payout, deps.clock.nowMs());
  if (silence === 'serverError') {
    ctx.status = 500;
    ctx.body = 'Internal Server Error';
  }
  // As for a request that hangs: the answer is ours to give, and we never do.
  if (silence === 'hang') ctx.respond = false;
  return silence !== null;
}
