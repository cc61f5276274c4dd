import { CHANNELS, TRANSACTION_THROUGH, type Channel } from '../../src/merchants/channels/channel.ts';

/** The channels by their own names, which are the same in every language. */
export const CHANNEL_NAMES: Record<Channel, string> = {
  TELEBIRR: 'telebirr',
  CBE_BIRR: 'CBE Birr',
  AWASH: 'Awash',
  MPESA: 'M-Pesa',
};

/** The values of a filter or a field. */
export const CHANNEL_VALUES = CHANNELS.map((channel) => [channel, CHANNEL_NAMES[channel]] as const);

/** The name of a channel's code, or of what `transactionThrough` has; any other text is its own. */
export const channelName = (code: string): string =>
  CHANNEL_VALUES.find(([channel]) => channel === code || TRANSACTION_THROUGH[channel] === code)?.[1] ?? code;
