import type { Environment } from '../../lib/scope.ts';
import type { Manifest } from '../../providers/manifest.ts';
import * as manifests from '../../providers/manifests.ts';

type Listed = (typeof manifests)[keyof typeof manifests];
type Live = Extract<Listed, Pick<Manifest, 'protocol'>>;

export type Channel = Listed['id'];
/** A channel that a provider can be configured for; the others are announced only. */
export type LiveChannel = Live['id'];
/** The folder of an adapter. */
export type Protocol = Live['protocol'];
export type TransactionThrough = Listed['transactionThrough'];

/** Every channel's manifest, in the order in which channels are listed. */
export const MANIFESTS: readonly Listed[] = Object.values(manifests).toSorted((a, b) => a.position - b.position);
const isLive = (manifest: Listed): manifest is Live => 'protocol' in manifest;
const LIVE = MANIFESTS.filter(isLive);

export const CHANNELS = MANIFESTS.map(({ id }) => id) as [Channel, ...Channel[]];
export const LIVE_CHANNELS = LIVE.map(({ id }) => id) as [LiveChannel, ...LiveChannel[]];

/** The name of a channel, as people know it. */
export const CHANNEL_NAMES = byChannel(MANIFESTS, ({ name }) => name);
/** The name of a channel in `transactionThrough`. */
export const TRANSACTION_THROUGH = byChannel(MANIFESTS, (one) => one.transactionThrough);

export const isLiveChannel = (channel: Channel): channel is LiveChannel =>
  LIVE_CHANNELS.some((live) => live === channel);

/** What is to be known of a channel's provider. */
export const manifestOf = (channel: LiveChannel): Manifest & { protocol: Protocol } => PROVIDERS[channel];
const PROVIDERS: Record<LiveChannel, Manifest & { protocol: Protocol }> = byChannel(LIVE, (one) => one);

/** A value for each live channel. */
export const byLiveChannel = <Value>(valueOf: (channel: LiveChannel) => Value) =>
  byChannel(LIVE, ({ id }) => valueOf(id));

function byChannel<One extends Listed, Value>(all: readonly One[], valueOf: (manifest: One) => Value) {
  return Object.fromEntries(all.map((one) => [one.id, valueOf(one)])) as Record<One['id'], Value>;
}

/** What channels need to know of a provider. `needsOwnAccount`: only merchants with their own account there can use it. */
export type ConfiguredProvider = { needsOwnAccount?: boolean | undefined };
/** Finds the provider configured for a channel; null: none. */
export type FindConfigured = (channel: Channel, environment: Environment) => ConfiguredProvider | null;

/** Whether a merchant with or without its own account can use this provider. */
export function isConfigured(provider: ConfiguredProvider | null, hasOwnAccount: boolean): boolean {
  return provider !== null && (hasOwnAccount || provider.needsOwnAccount !== true);
}

export const PLATFORM_STATES = ['AVAILABLE', 'COMING_SOON', 'MAINTENANCE'] as const;
export type PlatformState = (typeof PLATFORM_STATES)[number];

export const APPROVALS = ['NONE', 'REQUESTED', 'APPROVED', 'SUSPENDED'] as const;
export type Approval = (typeof APPROVALS)[number];

/**
 * Why a channel is unusable: the first of these reasons that applies. UNAVAILABLE is last, so it is given only for a channel
 * that is usable once its provider responds again.
 */
export const UNUSABLE = [
  'COMING_SOON',
  'MAINTENANCE',
  'NOT_CONFIGURED',
  'NOT_APPROVED',
  'KYC_TIER',
  'DISABLED',
  'UNAVAILABLE',
] as const;
export type Unusable = (typeof UNUSABLE)[number];

export type ChannelFacts = {
  platformState: PlatformState;
  approval: Approval;
  enabled: boolean;
  /** Whether the merchant's KYC tier allows this channel; always in the sandbox. */
  tierAllows: boolean;
  configured: boolean;
  /** Whether its live provider does not respond just now; never in the sandbox. */
  unavailable: boolean;
};

/** For so long a live channel is unavailable after its provider was last found not to respond. */
export const UNAVAILABLE_SECONDS = 30;

/** usable = platform state × provider configuration × merchant's approval × KYC tier × merchant's toggle × provider responds. */
export function whyUnusable(facts: ChannelFacts): Unusable | null {
  if (facts.platformState !== 'AVAILABLE') return facts.platformState;
  if (!facts.configured) return 'NOT_CONFIGURED';
  if (facts.approval !== 'APPROVED') return 'NOT_APPROVED';
  if (!facts.tierAllows) return 'KYC_TIER';
  if (!facts.enabled) return 'DISABLED';
  return facts.unavailable ? 'UNAVAILABLE' : null;
}
