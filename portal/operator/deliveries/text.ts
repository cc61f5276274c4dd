import { catalogue } from '../../ui/language.ts';

/** The texts of deliveries. */
export const text = catalogue({
  title: ['Webhook deliveries', 'የዌብሁክ መላኪያዎች'],
  none: ['There was no delivery in the last 30 days.', 'ባለፉት 30 ቀናት መላኪያ አልነበረም።'],
  deadLetter: ['Dead letter', 'ያልደረሰ መልእክት'],
  dismissed: ['Closed without a resend', 'ሳይላክ የተዘጋ'],
  dismissedAt: ['Closed at', 'የተዘጋበት ጊዜ'],
  event: ['Event', 'ክስተት'],
  orderNo: ['Order number', 'የትዕዛዝ ቁጥር'],
  receiver: ['Receiver', 'ተቀባይ'],
  host: ['Host of the receiver', 'የተቀባዩ አገልጋይ ስም'],
  attempts: ['Attempts', 'ሙከራዎች'],
  advice: ['Advice to the merchant', 'ለነጋዴው የሚሰጥ ምክር'],
  lastAnswer: ['Last answer', 'የመጨረሻ ምላሽ'],
  deliveryId: ['Delivery id', 'የመላኪያ መለያ'],
  eventId: ['Event id', 'የክስተት መለያ'],
  about: ['About', 'ስለ'],
  url: ['Address', 'አድራሻ'],
  subscription: ['Subscription', 'ምዝገባ'],
  active: ['active', 'ንቁ'],
  inactive: ['inactive', 'የቆመ'],
  deleted: ['deleted', 'የተሰረዘ'],
  failuresInARow: ['Failures in a row', 'ተከታታይ ውድቀቶች'],
  throttledUntil: ['Slowed down until', 'እስከዚህ የዘገየ'],
  deliveredAt: ['Delivered at', 'የደረሰበት ጊዜ'],
  deadSince: ['Dead letter since', 'ያልደረሰ መልእክት ከ'],
  givenUp: [
    'All attempts have failed. Resend it once the cause is corrected.',
    'ሁሉም ሙከራዎች አልተሳኩም። ምክንያቱ ሲስተካከል እንደገና ይላኩት።',
  ],
  dismissedNote: [
    'An operator decided that it needs no resend. It can still be resent.',
    'አንድ ኦፕሬተር እንደገና መላክ እንደማያስፈልገው ወስኗል። አሁንም እንደገና ሊላክ ይችላል።',
  ],
  eventTitle: ['Deliveries of an event', 'የአንድ ክስተት መላኪያዎች'],
  noDeliveries: ['This event has no delivery: nobody was subscribed to it.', 'ይህ ክስተት መላኪያ የለውም፦ የተመዘገበለት የለም።'],
});
