import { catalogue } from '../../ui/language.ts';

/** The texts of the bank account. */
export const text = catalogue({
  title: ['Bank account', 'የባንክ ሂሳብ'],
  intro: [
    'Settlements go to this account. Only an owner or somebody of finance can change it.',
    'ዝውውሮች ወደዚህ ሂሳብ ይገባሉ። ሊቀይረው የሚችለው ባለቤት ወይም የፋይናንስ ሠራተኛ ብቻ ነው።',
  ],
  none: ['No bank account is linked yet.', 'ገና የባንክ ሂሳብ አልተያያዘም።'],
  noneHelp: [
    'Link the account of your business: without one no settlement can be requested.',
    'የድርጅትዎን ሂሳብ ያያይዙ፦ ያለሱ ዝውውር መጠየቅ አይቻልም።',
  ],
  link: ['Link an account', 'ሂሳብ ያያይዙ'],
  change: ['Link another account', 'ሌላ ሂሳብ ያያይዙ'],
  PENDING: ['Waits for verification', 'ማረጋገጫ ይጠብቃል'],
  VERIFIED: ['Verified', 'ተረጋግጧል'],
  REJECTED: ['Rejected', 'ውድቅ ተደርጓል'],
  pendingHelp: [
    'Meskot compares the account with your documents. Settlements can be requested once it is verified.',
    'መስኮት ሂሳቡን ከሰነዶችዎ ጋር ያነጻጽራል። ሲረጋገጥ ዝውውር መጠየቅ ይቻላል።',
  ],
  rejectedBecause: ['Reason:', 'ምክንያት፦'],
  rejectedHelp: ['No settlement goes to it. Link another account.', 'ምንም ዝውውር አይገባበትም። ሌላ ሂሳብ ያያይዙ።'],
  verifiedHelp: ['Settlements go to it.', 'ዝውውሮች ወደዚህ ይገባሉ።'],
  held: (until: string) => [
    `Held until ${until}: for 48 hours after a change no new settlement can be requested, so that nobody can divert your money unnoticed.`,
    `እስከ ${until} ተይዟል፦ ማንም ሳያውቁት ገንዘብዎን እንዳይወስድ ከለውጥ በኋላ ለ48 ሰዓታት አዲስ ዝውውር መጠየቅ አይቻልም።`,
  ],
  bank: ['Bank', 'ባንክ'],
  accountNumber: ['Account number', 'የሂሳብ ቁጥር'],
  accountName: ['Name of the account', 'የሂሳቡ ስም'],
  linkedAt: ['Linked', 'የተያያዘበት ጊዜ'],
  verifiedAt: ['Verified at', 'የተረጋገጠበት ጊዜ'],
  usableFrom: ['Can be used from', 'መጠቀም የሚቻልበት ጊዜ'],
  chooseBank: ['Choose…', 'ይምረጡ…'],
  numberRule: ['8 to 20 digits, without spaces.', 'ከ8 እስከ 20 አሃዞች፣ ያለ ክፍተት።'],
  nameRule: ['Exactly as the bank has it, at most 100 characters.', 'ባንኩ እንዳለው በትክክል፣ ቢበዛ 100 ፊደላት።'],
  replaces: [
    'The account of now is replaced. Settlements that were requested before keep theirs.',
    'የአሁኑ ሂሳብ ይተካል። ከዚህ በፊት የተጠየቁ ዝውውሮች በሂሳባቸው ይቀጥላሉ።',
  ],
  holds: [
    'In live, new settlements then wait for 48 hours and for the verification of the account.',
    'በእውነተኛው ላይ አዲስ ዝውውሮች ከዚያ በኋላ 48 ሰዓታትንና የሂሳቡን ማረጋገጫ ይጠብቃሉ።',
  ],
  testOnly: [
    'In test the account is verified at once, and no money goes to it.',
    'በሙከራ ላይ ሂሳቡ ወዲያውኑ ይረጋገጣል፣ ገንዘብም አይገባበትም።',
  ],
  linked: ['The bank account is linked.', 'የባንክ ሂሳቡ ተያይዟል።'],
});
