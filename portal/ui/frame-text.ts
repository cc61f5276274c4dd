import { catalogue } from './language.ts';

/** The texts of the frame around the screens. */
export const text = catalogue({
  menu: ['Menu', 'ማውጫ'],
  mainNavigation: ['Main', 'ዋና ማውጫ'],
  skip: ['Skip to the content', 'ወደ ይዘቱ ይለፉ'],
  test: ['TEST', 'ሙከራ'],
  live: ['LIVE', 'እውነተኛ'],
  testData: ['Test data: no money moves here.', 'የሙከራ መረጃ፦ እዚህ ምንም ገንዘብ አይንቀሳቀስም።'],
  liveData: ['Live data: real money.', 'እውነተኛ መረጃ፦ እውነተኛ ገንዘብ።'],
  switchToLive: ['Switch to live', 'ወደ እውነተኛው ይቀይሩ'],
  switchToTest: ['Switch to test', 'ወደ ሙከራው ይቀይሩ'],
  language: ['Language', 'ቋንቋ'],
  help: ['Help', 'እገዛ'],
  person: ['Account', 'መለያ'],
  signOut: ['Sign out', 'ውጣ'],
  role: ['Role', 'ሚና'],
  docs: ['Documentation of the API', 'የAPI መመሪያ'],
  keys: ['Keys of the keyboard', 'የቁልፍ ሰሌዳ ቁልፎች'],
  keysOn: ['Single keys are on', 'ነጠላ ቁልፎች ይሠራሉ'],
  keyHelp: ['Show this help', 'ይህን እገዛ አሳይ'],
  keyNextRow: ['Next row, previous row', 'ቀጣይ ረድፍ፣ ቀዳሚ ረድፍ'],
  keyOpen: ['Open the row', 'ረድፉን ክፈት'],
  keyClose: ['Close the panel or window', 'ክፍሉን ወይም መስኮቱን ዝጋ'],
  notFound: ['There is no such page.', 'እንዲህ ያለ ገጽ የለም።'],
  broken: [
    'This page has a fault. Reload it; if the fault persists, contact support.',
    'ይህ ገጽ ስህተት አለበት። እንደገና ይጫኑት፤ ስህተቱ ከቀጠለ ድጋፍ ሰጪዎችን ያነጋግሩ።',
  ],
  reload: ['Reload', 'እንደገና ጫን'],
  stepUpTitle: ['Enter a code', 'ኮድ ያስገቡ'],
  stepUpHelp: [
    'This needs a code of your authenticator app, or a recovery code. It counts for five minutes.',
    'ይህ ከማረጋገጫ መተግበሪያዎ ኮድ ወይም የመልሶ ማግኛ ኮድ ያስፈልገዋል። ለአምስት ደቂቃዎች ይሠራል።',
  ],
  code: ['Code', 'ኮድ'],
  wrongCode: [
    'This code is wrong or was used before. Enter the next one that the app shows.',
    'ይህ ኮድ የተሳሳተ ወይም ያገለገለ ነው። መተግበሪያው የሚያሳየውን ቀጣይ ኮድ ያስገቡ።',
  ],
  confirm: ['Confirm', 'አረጋግጥ'],
});
