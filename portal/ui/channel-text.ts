import { CHANNEL_NAMES, CHANNELS, TRANSACTION_THROUGH } from '../../src/merchants/channels/channel.ts';

/** The values of a filter or a field. */
export const CHANNEL_VALUES = CHANNELS.map((channel) => [channel, CHANNEL_NAMES[channel]] as const);

/** The name of a channel's code, or of what `transactionThrough` has; any other text is its own. */
export const channelName = (code: string): string =>
  CHANNEL_VALUES.find(([channel]) => channel === code || TRANSACTION_THROUGH[channel] === code)?.[1] ?? code;
