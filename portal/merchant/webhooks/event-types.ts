import type { EventTypeName } from '../../../src/webhooks/events/catalogue.ts';

/** When each event is sent, in Amharic. The API has it in English. */
export const EVENT_TYPES: Readonly<Record<EventTypeName, string>> = {
  'checkout.completed': 'የክፍያ ገጹ በክፍያ ተጠናቀቀ።',
  'checkout.failed': 'ክፍያው አልተሳካም።',
  'checkout.canceled': 'ደንበኛው ክፍያውን ሰረዘ።',
  'checkout.expired': 'የክፍያ ገጹ ጊዜ ሳይከፈል አለፈ።',
  'payment.created': 'ደንበኛው የክፍያ መንገድ መረጠ፦ የመጀመሪያው የክፍያ ሙከራ ተፈጠረ።',
  'payment.succeeded': 'ክፍያ ተሳካ።',
  'payment.completed': 'ክፍያ ተሳካ፤ የpayment.succeeded ሌላ ስም ነው።',
  'withdrawal.created': 'ወጪ ተጠየቀ።',
  'withdrawal.under_review': 'ወጪው በምርመራ ላይ ነው።',
  'withdrawal.succeeded': 'ወጪው ተከፈለ።',
  'withdrawal.failed': 'ወጪው አልተሳካም።',
  'withdrawal.rejected': 'ወጪው ውድቅ ተደረገ።',
  'withdrawal.canceled': 'ወጪው ተሰረዘ።',
  'withdrawal.reversed': 'የተከፈለው ወጪ ተመለሰ።',
  'settlement.requested': 'ወደ ባንክ ዝውውር ተጠየቀ።',
  'settlement.processing': 'ዝውውሩ ወደ ባንክ ተላከ።',
  'settlement.completed': 'ዝውውሩ ወደ ሂሳብ ገባ።',
  'settlement.failed': 'ዝውውሩ አልተሳካም።',
  'settlement.rejected': 'ዝውውሩ ውድቅ ተደረገ።',
  'settlement.canceled': 'ዝውውሩ ተሰረዘ።',
  'settlement.updated': 'ዝውውሩ ጸደቀ፣ ወይም የሚጠበቁ ቀናቱ ተለወጡ።',
  'report.ready': 'ሪፖርት ተዘጋጀ።',
  'webhook.test': 'የሙከራ ክስተት።',
};
