import { manifestOf, type LiveChannel, type Protocol } from '../merchants/channels/channel.ts';
import { createCbeBirr } from './cbe-birr/adapter.ts';
import type { ProviderDeps } from './exchange.ts';
import type { Manifest } from './manifest.ts';
import type { Adapter, Provider } from './provider.ts';
import { createTelebirr } from './telebirr/adapter.ts';

/** `config`: the values of the manifest's settings. */
type CreateAdapter = (deps: ProviderDeps, config: never, manifest: Manifest) => Adapter;

/** By the folder that a manifest names. */
const ADAPTERS: Record<Protocol, CreateAdapter> = {
  telebirr: createTelebirr,
  'cbe-birr': createCbeBirr,
};

/** The adapter of one account, without rate limit, circuit breaker and metrics. */
export function createAdapter(
  channel: LiveChannel,
  deps: ProviderDeps,
  config: Readonly<Record<string, unknown>>,
): Provider {
  const manifest = manifestOf(channel);
  // The schemas of the manifest's settings have validated them.
  return { channel, ...ADAPTERS[manifest.protocol](deps, config as never, manifest) };
}
