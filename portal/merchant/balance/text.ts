import { formatCount } from '../../ui/format.ts';
import { catalogue, plural } from '../../ui/language.ts';

/** The texts of the balance. */
export const text = catalogue({
  title: ['Balance', 'ቀሪ ሂሳብ'],
  available: ['Available', 'ሊወጣ የሚችል'],
  availableHelp: ['Can be withdrawn or settled', 'ወጪ ሊደረግ ወይም ወደ ባንክ ሊተላለፍ የሚችል'],
  reserved: ['Reserved', 'የተያዘ'],
  reservedHelp: ['For withdrawals, refunds and settlements under way', 'በሂደት ላይ ላሉ ወጪዎች፣ ተመላሽ ክፍያዎችና ወደ ባንክ ዝውውሮች'],
  total: ['Total', 'ጠቅላላ'],
  totalHelp: ['Available and reserved', 'ሊወጣ የሚችልና የተያዘ በአንድ ላይ'],
  fees: ['Fees', 'የአገልግሎት ክፍያዎች'],
  feesHelp: ['Charged so far, tax included', 'እስካሁን የተቆረጠ፣ ግብርን ጨምሮ'],
  settled: ['Net settlements', 'ወደ ባንክ የገባ'],
  settledHelp: ['Credited to your bank account so far', 'እስካሁን ወደ ባንክ ሂሳብዎ የገባ'],
  account: ['Balance', 'ሂሳብ'],
  allDays: ['All days', 'ሁሉም ቀናት'],
  count: (count: number) => [
    `${formatCount(count)} ${plural(count, { one: 'entry', other: 'entries' })}`,
    `${formatCount(count)} ምዝገባዎች`,
  ],
  opening: ['Balance before', 'ከዚያ በፊት ቀሪ'],
  sum: ['Sum', 'ድምር'],
  closing: ['Balance after', 'ከዚያ በኋላ ቀሪ'],
  type: ['Type', 'ዓይነት'],
  amount: ['Amount (ETB)', 'መጠን (ብር)'],
  balanceAfter: ['Balance after', 'ከዚያ በኋላ ቀሪ'],
  about: ['About', 'ስለ'],
  at: ['Posted at', 'የተመዘገበበት ጊዜ'],
  noneYet: ['No entries in the last 30 days.', 'ባለፉት 30 ቀናት ምንም ምዝገባ የለም።'],
  noneYetHelp: ['The first payment makes the first entry.', 'የመጀመሪያው ክፍያ የመጀመሪያውን ምዝገባ ይፈጥራል።'],
  onlyResource: (id: string) => [`Entries of ${id} only`, `የ${id} ምዝገባዎች ብቻ`],
});

/** The list of entries, by its account. */
export const ENTRIES_OF = catalogue({
  available: ['Entries of the available balance', 'ሊወጣ የሚችለው ሂሳብ ምዝገባዎች'],
  reserved: ['Entries of the reserved balance', 'የተያዘው ሂሳብ ምዝገባዎች'],
  fees: ['Entries of the fees', 'የአገልግሎት ክፍያ ምዝገባዎች'],
  settled: ['Entries of the net settlements', 'ወደ ባንክ የገቡ ምዝገባዎች'],
});

/** What an entry is, by its type. */
export const KINDS = catalogue({
  PAYMENT: ['Payment', 'ክፍያ'],
  PAYMENT_HELD: ['Payment held', 'የተያዘ ክፍያ'],
  HELD_ACCEPTED: ['Held payment released', 'የተለቀቀ የተያዘ ክፍያ'],
  HELD_RETURNED: ['Held payment returned', 'የተመለሰ የተያዘ ክፍያ'],
  WITHDRAWAL_RESERVED: ['Withdrawal reserved', 'ለወጪ የተያዘ'],
  WITHDRAWAL_PAID: ['Withdrawal paid', 'የተከፈለ ወጪ'],
  WITHDRAWAL_RELEASED: ['Withdrawal released', 'የተለቀቀ ወጪ'],
  WITHDRAWAL_REVERSED: ['Withdrawal reversed', 'የተመለሰ ወጪ'],
  SETTLEMENT_RESERVED: ['Settlement reserved', 'ወደ ባንክ ለማስተላለፍ የተያዘ'],
  SETTLEMENT_PAID: ['Settlement credited', 'ወደ ባንክ የገባ'],
  SETTLEMENT_RELEASED: ['Settlement released', 'የተለቀቀ የባንክ ዝውውር'],
  SETTLEMENT_REVERSED: ['Settlement returned', 'ከባንክ የተመለሰ'],
  REFUND_RESERVED: ['Refund reserved', 'ለተመላሽ ክፍያ የተያዘ'],
  REFUND_PAID: ['Refund paid back', 'የተከፈለ ተመላሽ ክፍያ'],
  REFUND_RELEASED: ['Refund released', 'የተለቀቀ ተመላሽ ክፍያ'],
  REMITTANCE: ['Remittance', 'የአቅራቢ ገቢ'],
  RECEIPT_UNALLOCATED: ['Unallocated receipt', 'ያልተመደበ ገቢ'],
});
