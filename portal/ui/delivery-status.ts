import type { EventStatus } from '../../src/webhooks/delivery/states.ts';
import type { Tone } from './badge.tsx';
import { catalogue } from './language.ts';

/** The states of deliveries, and of events by their worst one. */
export const DELIVERY_TONES: Record<EventStatus, Tone> = {
  PENDING: 'info',
  RETRYING: 'warn',
  DELIVERED: 'good',
  FAILED: 'bad',
  SKIPPED: 'quiet',
  NO_SUBSCRIBERS: 'quiet',
};

export const DELIVERY_TEXTS: Record<EventStatus, string> = catalogue({
  PENDING: ['Pending', 'በመጠባበቅ ላይ'],
  RETRYING: ['Retrying', 'እንደገና በመሞከር ላይ'],
  DELIVERED: ['Delivered', 'ደርሷል'],
  FAILED: ['Failed', 'አልተሳካም'],
  SKIPPED: ['Skipped', 'ታልፏል'],
  NO_SUBSCRIBERS: ['No subscribers', 'ተመዝጋቢ የለም'],
});
