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

export const DELIVERY_TEXTS: Record<EventStatus, string> = catalogue(
  {
    PENDING: 'Pending',
    RETRYING: 'Retrying',
    DELIVERED: 'Delivered',
    FAILED: 'Failed',
    SKIPPED: 'Skipped',
    NO_SUBSCRIBERS: 'No subscribers',
  },
  {
    PENDING: 'በመጠባበቅ ላይ',
    RETRYING: 'እንደገና በመሞከር ላይ',
    DELIVERED: 'ደርሷል',
    FAILED: 'አልተሳካም',
    SKIPPED: 'ታልፏል',
    NO_SUBSCRIBERS: 'ተመዝጋቢ የለም',
  },
);
