import type { Environment } from '../../lib/scope.ts';

/** Every channel, in the order it is listed, with the name the contract gives it in `transactionThrough`. */
export const TRANSACTION_THROUGH = {
  TELEBIRR: 'telebirr',
  CBE_BIRR: 'cbebirr',
  AWASH: 'awashbirr',
  MPESA: 'mpesa',
} as const;

export type Channel = keyof typeof TRANSACTION_THROUGH;
export const CHANNELS = Object.keys(TRANSACTION_THROUGH) as [Channel, ...Channel[]];
export type TransactionThrough = (typeof TRANSACTION_THROUGH)[Channel];

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
