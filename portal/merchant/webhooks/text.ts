import { formatCount } from '../../ui/format.ts';
import { catalogue, plural } from '../../ui/language.ts';

const deliveries = (count: number): string =>
  `${formatCount(count)} ${plural(count, { one: 'delivery', other: 'deliveries' })}`;

/** The texts of webhook subscriptions. */
export const text = catalogue({
  title: ['Webhooks', 'ዌብሁኮች'],
  intro: [
    'Each subscription gets the events that you choose as signed POST requests.',
    'እያንዳንዱ ምዝገባ የመረጧቸውን ክስተቶች በተፈረሙ የPOST ጥያቄዎች ይቀበላል።',
  ],
  newSubscription: ['New subscription', 'አዲስ ምዝገባ'],
  noneYet: ['No subscriptions yet.', 'እስካሁን ምዝገባ የለም።'],
  noneYetHelp: [
    'Add the URL of your server, and every payment is reported to it.',
    'የአገልጋይዎን አድራሻ ያክሉ፤ እያንዳንዱ ክፍያ ይነገረዋል።',
  ],
  listLabel: ['Subscriptions', 'ምዝገባዎች'],
  url: ['URL', 'አድራሻ (URL)'],
  urlHint: ['An https address that everybody on the internet can reach.', 'ከኢንተርኔት ሁሉም ሊደርስበት የሚችል የhttps አድራሻ።'],
  urlHintTest: [
    'An address that is reachable from here; in test, http and localhost may be allowed.',
    'ከዚህ ሊደረስበት የሚችል አድራሻ፤ በሙከራ http እና localhost ሊፈቀዱ ይችላሉ።',
  ],
  description: ['Description', 'መግለጫ'],
  descriptionHint: ['For you and your colleagues.', 'ለእርስዎና ለባልደረቦችዎ።'],
  events: ['Events', 'ክስተቶች'],
  allEvents: ['All events', 'ሁሉም ክስተቶች'],
  someEvents: ['Only these', 'እነዚህ ብቻ'],
  chooseOne: ['Choose at least one event.', 'ቢያንስ አንድ ክስተት ይምረጡ።'],
  encoding: ['Encoding of X-Service-Signature', 'የX-Service-Signature አጻጻፍ'],
  create: ['Create', 'ይፍጠሩ'],
  save: ['Save', 'ያስቀምጡ'],
  edit: ['Edit', 'ያስተካክሉ'],
  remove: ['Delete', 'ይሰርዙ'],
  removeTitle: ['Delete this subscription?', 'ይህ ምዝገባ ይሰረዝ?'],
  removeHelp: (count: number) => [
    `${deliveries(count)} that wait for it will be skipped for good.`,
    `የሚጠብቁ ${formatCount(count)} መላኪያዎች ለዘለቄታው ይታለፋሉ።`,
  ],
  active: ['Active', 'ንቁ'],
  created: ['Created', 'የተፈጠረው'],
  removed: ['The subscription is deleted.', 'ምዝገባው ተሰርዟል።'],
  saved: ['The subscription is changed.', 'ምዝገባው ተስተካክሏል።'],
  UNVERIFIED: ['Not tried yet', 'ገና አልተሞከረም'],
  HEALTHY: ['Healthy', 'ጤናማ'],
  FAILING: ['Failing', 'እየተሳነ ነው'],
  inactive: ['Inactive', 'የቆመ'],
  successRate: ['Delivered in 24 h', 'በ24 ሰዓት የደረሱ'],
  noDeliveries: ['none sent', 'ምንም አልተላከም'],
  lastFailure: ['Last failure', 'የመጨረሻው ውድቀት'],
  secret: ['Secret', 'ምስጢር'],
  secretEnds: (hint: string) => [`ends with …${hint}`, `በ…${hint} ያበቃል`],
  previousUntil: ['The previous secret also signs until', 'የቀድሞው ምስጢርም እስከዚህ ይፈርማል'],
  headers: ['Own headers', 'የራስዎ ራስጌዎች'],
  rotate: ['Rotate secret', 'ምስጢሩን ይቀይሩ'],
  rotateTitle: ['Rotate the secret', 'ምስጢሩን ይቀይሩ'],
  rotateHelp: [
    'A new secret signs from now on. For how long shall the old one sign as well, in a second header?',
    'ከአሁን ጀምሮ አዲስ ምስጢር ይፈርማል። የቀድሞው በሁለተኛ ራስጌ ለምን ያህል ጊዜ ይፈርም?',
  ],
  endsEarlier: [
    'An earlier rotation is still overlapping. Its old secret ends now.',
    'የቀድሞው ቅያሪ የጋራ ጊዜ ገና አላበቃም። የዚያ አሮጌ ምስጢር አሁን ያበቃል።',
  ],
  secretOnce: ['Your new secret', 'አዲሱ ምስጢርዎ'],
  test: ['Send test event', 'የሙከራ ክስተት ይላኩ'],
  testSending: ['The test event is on its way…', 'የሙከራ ክስተቱ በመላክ ላይ ነው…'],
  testGood: (status: number, ms: number) => [
    `Your server answered ${status} after ${formatCount(ms)} ms.`,
    `አገልጋይዎ ከ${formatCount(ms)} ሚሊ ሰከንድ በኋላ ${status} መለሰ።`,
  ],
  testBad: ['Your server did not confirm it.', 'አገልጋይዎ አላረጋገጠውም።'],
  testAnswer: ['Answer of your server', 'የአገልጋይዎ ምላሽ'],
  testInactive: ['Turn it on first.', 'መጀመሪያ ያብሩት።'],
  turnOff: ['Turn off', 'ያጥፉ'],
  turnOffTitle: ['Turn this subscription off?', 'ይህ ምዝገባ ይጥፋ?'],
  turnOffHelp: (count: number) => [
    count === 0
      ? 'Nothing waits for it. Events from now on are skipped; you can resend them once it is on again.'
      : `${deliveries(count)} wait. They and the events from now on are skipped; you can resend them once it is on again.`,
    count === 0
      ? 'የሚጠብቅ ነገር የለም። ከአሁን በኋላ ያሉ ክስተቶች ይታለፋሉ፤ ሲበራ እንደገና መላክ ይችላሉ።'
      : `${formatCount(count)} መላኪያዎች ይጠብቃሉ። እነሱና ከአሁን በኋላ ያሉ ክስተቶች ይታለፋሉ፤ ሲበራ እንደገና መላክ ይችላሉ።`,
  ],
  turnOnTitle: ['Send what was skipped?', 'የታለፉት ይላኩ?'],
  turnOnHelp: (count: number) => [
    `${deliveries(count)} of the last 30 days were skipped. Send them now, or leave them?`,
    `ባለፉት 30 ቀናት ${formatCount(count)} መላኪያዎች ታልፈዋል። አሁን ይላኩ ወይስ ይቅሩ?`,
  ],
  turnOnAndSend: ['Turn on and send them', 'ያብሩና ይላኳቸው'],
  turnOnOnly: ['Turn on, leave them', 'ያብሩ፣ እነሱን ይተዉአቸው'],
  health: ['Deliveries of the last 14 days', 'ያለፉት 14 ቀናት መላኪያዎች'],
  day: ['Day', 'ቀን'],
  shares: ['Shares', 'ድርሻ'],
  delivered: ['Delivered', 'የደረሱ'],
  failed: ['Failed', 'ያልተሳኩ'],
  other: ['Other', 'ሌሎች'],
  toEvents: ['Its events', 'ክስተቶቹ'],
  receiver: ['Built-in receiver', 'አብሮ የተሠራ መቀበያ'],
});
