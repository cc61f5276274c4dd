import { formatCount } from '../../ui/format.ts';
import { catalogue } from '../../ui/language.ts';

/** The texts of the request log. */
export const text = catalogue({
  title: ['Request log', 'የጥያቄ መዝገብ'],
  intro: [
    'Calls of the API with keys of this environment. They are kept for 30 days, without their content.',
    'በዚህ አካባቢ ቁልፎች የተደረጉ የAPI ጥሪዎች። ያለ ይዘታቸው ለ30 ቀናት ይቆያሉ።',
  ],
  label: ['API calls', 'የAPI ጥሪዎች'],
  call: ['Call', 'ጥሪ'],
  status: ['Status', 'ሁኔታ'],
  error: ['Error', 'ስህተት'],
  key: ['Key', 'ቁልፍ'],
  duration: ['Duration', 'የፈጀው ጊዜ'],
  milliseconds: (count: number) => [`${formatCount(count)} ms`, `${formatCount(count)} ሚሊ ሰከንድ`],
  at: ['Time', 'ጊዜ'],
  method: ['Method', 'ዘዴ'],
  route: ['Path', 'ዱካ'],
  success: ['2xx: success', '2xx፦ ተሳክቷል'],
  redirect: ['3xx: not modified', '3xx፦ አልተለወጠም'],
  callerError: ['4xx: error of the caller', '4xx፦ የጠሪው ስህተት'],
  serverError: ['5xx: error of the service', '5xx፦ የአገልግሎቱ ስህተት'],
  searchLabel: ['Request id', 'የጥያቄ መለያ'],
  none: ['No call matches these filters.', 'ከእነዚህ ማጣሪያዎች ጋር የሚስማማ ጥሪ የለም።'],
  noneHelp: [
    'The request id is in the header X-Request-Id of each response, and in the body of each error.',
    'የጥያቄ መለያው በእያንዳንዱ ምላሽ ራስጌ X-Request-Id እና በእያንዳንዱ ስህተት አካል ውስጥ ይገኛል።',
  ],
  noneYet: ['No API calls in the last 30 days.', 'ባለፉት 30 ቀናት ምንም የAPI ጥሪ የለም።'],
  noneYetHelp: ['A call appears here about two seconds after its response.', 'ጥሪ ምላሽ ካገኘ ከሁለት ሰከንድ ገደማ በኋላ እዚህ ይታያል።'],
  toKeys: ['Go to the API keys', 'ወደ API ቁልፎች ይሂዱ'],
  address: ['Address', 'አድራሻ'],
  requestId: ['Request id', 'የጥያቄ መለያ'],
  sameRoute: ['All calls of this path', 'የዚህ ዱካ ጥሪዎች በሙሉ'],
  sameKey: ['All calls with this key', 'በዚህ ቁልፍ የተደረጉ ጥሪዎች በሙሉ'],
  gone: ['This call is not in the log. Calls are kept for 30 days.', 'ይህ ጥሪ በመዝገቡ ውስጥ የለም። ጥሪዎች ለ30 ቀናት ይቆያሉ።'],
});
