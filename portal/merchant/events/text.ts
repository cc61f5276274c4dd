import { catalogue } from '../../ui/language.ts';

/** The texts of events and their deliveries. */
export const text = catalogue({
  title: ['Events', 'ክስተቶች'],
  helper: ['Check a signature', 'ፊርማ ያረጋግጡ'],
  resendMany: ['Resend many', 'ብዙዎችን እንደገና ይላኩ'],
  event: ['Event', 'ክስተት'],
  resource: ['About', 'ስለ'],
  status: ['Status', 'ሁኔታ'],
  deliveries: ['Deliveries', 'መላኪያዎች'],
  createdAt: ['Created at', 'የተፈጠረበት ጊዜ'],
  type: ['Event', 'ክስተት'],
  subscription: ['Subscription', 'ምዝገባ'],
  searchLabel: ['Order number, or id of a withdrawal…', 'የትዕዛዝ ቁጥር፣ ወይም የወጪ… መለያ'],
  noneYet: ['No events in the last 30 days.', 'ባለፉት 30 ቀናት ምንም ክስተት የለም።'],
  noneYetHelp: [
    'Events are recorded with each payment, withdrawal and settlement.',
    'ክስተቶች ከእያንዳንዱ ክፍያ፣ ወጪና ወደ ባንክ ዝውውር ጋር ይመዘገባሉ።',
  ],
  eventId: ['Event id', 'የክስተት መለያ'],
  payload: ['Signed body', 'የተፈረመው አካል'],
  payloadHelp: ['Without its field "signature", which is added when it is sent.', 'ሲላክ ከሚጨመረው "signature" መስክ በስተቀር።'],
  resend: ['Resend now', 'አሁን እንደገና ይላኩ'],
  resent: ['Resent: the new attempt appears below.', 'እንደገና ተልኳል፦ አዲሱ ሙከራ ከታች ይታያል።'],
  givenUp: [
    'All attempts have failed. Correct the cause, then resend it.',
    'ሁሉም ሙከራዎች አልተሳኩም። ምክንያቱን ያስተካክሉ፣ ከዚያ እንደገና ይላኩት።',
  ],
});
