import { CHANNELS, type Channel } from '../../src/merchants/channels/channel.ts';

const NAMES: Readonly<Record<Channel, string>> = {
  TELEBIRR: 'telebirr',
  CBE_BIRR: 'CBE Birr',
  AWASH: 'Awash',
  MPESA: 'M-Pesa',
};

/** The name of a payment channel, by the API's; another text, such as one of a file, stays as it is. */
export const channelName = (channel: string): string => (channel in NAMES ? NAMES[channel as Channel] : channel);

/** The channels to choose from, by their names. */
export const CHANNEL_CHOICES = CHANNELS.map((channel) => [channel, NAMES[channel]] as const);
