import { formatCount } from '../../ui/format.ts';
import { catalogue } from '../../ui/language.ts';

/** The phone with which the sandbox's providers pay at once. */
const PAYING_PHONE = '0911000001';

/** The texts of the first steps. */
export const text = catalogue({
  title: ['Get started', 'መጀመሪያ'],
  intro: [
    'From a test payment to real ones. Each step is done once it has worked, whoever of your team did it.',
    'ከሙከራ ክፍያ እስከ እውነተኛ ክፍያ። እያንዳንዱ እርምጃ ከቡድንዎ ማንም ቢሠራው ሲሳካ ይጠናቀቃል።',
  ],
  progress: (done: number, all: number) => [
    `${formatCount(done)} of ${formatCount(all)} steps done`,
    `ከ${formatCount(all)} እርምጃዎች ${formatCount(done)} ተጠናቅቀዋል`,
  ],
  inTest: ['The first steps are made in test.', 'የመጀመሪያ እርምጃዎች የሚሠሩት በሙከራ ላይ ነው።'],
  toTest: ['Go to test', 'ወደ ሙከራው ይሂዱ'],
  done: ['Done', 'ተጠናቋል'],
  open: ['To do', 'ይቀራል'],
  verify: ['Verify your business', 'ድርጅትዎን ያረጋግጡ'],
  verifyHelp: [
    'Meskot checks the business and its documents before it takes real payments. This takes longest: begin with it. Test has a verification of its own, which only shows how it goes.',
    'መስኮት እውነተኛ ክፍያ ከመቀበሉ በፊት ድርጅቱንና ሰነዶቹን ይመረምራል። ረጅሙን ጊዜ የሚወስደው ይህ ነው፦ በዚህ ይጀምሩ። ሙከራው የራሱ ማረጋገጫ አለው፤ ያ አሠራሩን ብቻ ያሳያል።',
  ],
  toVerification: ['Open the verification', 'ማረጋገጫውን ይክፈቱ'],
  NOT_STARTED: ['Not submitted yet.', 'ገና አልቀረበም።'],
  SUBMITTED: ['Submitted: Meskot decides.', 'ቀርቧል፦ መስኮት ይወስናል።'],
  UNDER_REVIEW: ['Meskot is looking at it.', 'መስኮት እየተመለከተው ነው።'],
  APPROVED: ['Your business is verified.', 'ድርጅትዎ ተረጋግጧል።'],
  REJECTED: ['Rejected: open it to see why, and submit it again.', 'ውድቅ ተደርጓል፦ ምክንያቱን ለማየት ይክፈቱትና እንደገና ያቅርቡ።'],
  MORE_INFO_NEEDED: ['Meskot needs more information.', 'መስኮት ተጨማሪ መረጃ ይፈልጋል።'],
  key: ['Create a test key', 'የሙከራ ቁልፍ ይፍጠሩ'],
  keyHelp: [
    'Your server calls the API with it. It is shown once, with a call to try it.',
    'አገልጋይዎ በዚህ APIውን ይጠራል። የሚታየው አንድ ጊዜ ነው፣ ከመሞከሪያ ጥሪ ጋር።',
  ],
  keys: (count: number) => [`Keys: ${formatCount(count)}`, `ቁልፎች፦ ${formatCount(count)}`],
  toKeys: ['Open the keys', 'ቁልፎችን ይክፈቱ'],
  webhook: ['Add a webhook', 'ዌብሁክ ያክሉ'],
  webhookHelp: [
    'Your server gets a signed request when a payment changes. It is the only reliable way to know that a customer has paid. No server yet? Switch on the built-in receiver.',
    'ክፍያ ሲለወጥ አገልጋይዎ የተፈረመ መልእክት ይደርሰዋል። ደንበኛ መክፈሉን ለማወቅ አስተማማኙ መንገድ ይህ ብቻ ነው። እስካሁን አገልጋይ ከሌለዎት አብሮ የተሠራውን መቀበያ ያብሩ።',
  ],
  webhooks: (count: number) => [`Active subscriptions: ${formatCount(count)}`, `ንቁ ምዝገባዎች፦ ${formatCount(count)}`],
  toWebhooks: ['Open the webhooks', 'ዌብሁኮችን ይክፈቱ'],
  pay: ['Make a test payment', 'የሙከራ ክፍያ ያድርጉ'],
  payHelp: [
    `Create a payment, open its checkout page, and pay as a customer would: the phone number ${PAYING_PHONE} pays at once.`,
    `ክፍያ ይፍጠሩ፣ የክፍያ ገጹን ይክፈቱ፣ እንደ ደንበኛ ይክፈሉ፦ ስልክ ቁጥር ${PAYING_PHONE} ወዲያውኑ ይከፍላል።`,
  ],
  create: ['Create a test payment', 'የሙከራ ክፍያ ይፍጠሩ'],
  createAnother: ['Create another one', 'ሌላ ይፍጠሩ'],
  toCheckout: ['Open the checkout page', 'የክፍያ ገጹን ይክፈቱ'],
  payments: (count: number) => [
    `Successful test payments in 90 days: ${formatCount(count)}`,
    `በ90 ቀናት ውስጥ የተሳኩ የሙከራ ክፍያዎች፦ ${formatCount(count)}`,
  ],
  arrive: ['Watch it arrive', 'ሲደርስ ይመልከቱ'],
  arriveHelp: [
    'The payment appears under Transaction, and your server answers its webhook with 2xx.',
    'ክፍያው በግብይት ዝርዝር ይታያል፣ አገልጋይዎም ለዌብሁኩ በ2xx ይመልሳል።',
  ],
  notPaid: ['No test payment has succeeded yet.', 'ገና የተሳካ የሙከራ ክፍያ የለም።'],
  noWebhook: ['No webhook was sent for it: add one, then pay again.', 'ለዚህ ክፍያ ዌብሁክ አልተላከም፦ አንድ ያክሉና እንደገና ይክፈሉ።'],
  toTransaction: ['Open the transaction', 'ግብይቱን ይክፈቱ'],
  live: ['Go live', 'ወደ እውነተኛው ይሂዱ'],
  liveHelp: [
    'Use a live key in place of the test key; nothing else of your integration changes.',
    'በሙከራ ቁልፉ ምትክ እውነተኛውን ቁልፍ ይጠቀሙ፤ ሌላው ሁሉ አይቀየርም።',
  ],
  liveOpen: ['Live is open.', 'እውነተኛው ክፍት ነው።'],
  liveClosed: (missing: string) => [
    `Live is not open yet. Missing: ${missing}.`,
    `እውነተኛው ገና አልተከፈተም። የጎደለው፦ ${missing}።`,
  ],
  missingVerification: ['the verification of your business', 'የድርጅትዎ ማረጋገጫ'],
  missingPayment: ['a successful test payment', 'አንድ የተሳካ የሙከራ ክፍያ'],
  missingTwoFactor: ['two-factor authentication of your own account', 'የራስዎ አካውንት ሁለት ደረጃ ማረጋገጫ'],
  turnOnTwoFactor: ['Turn on two-factor authentication', 'ሁለት ደረጃ ማረጋገጫን ያብሩ'],
  toLive: ['Go to live', 'ወደ እውነተኛው ይሂዱ'],
});
