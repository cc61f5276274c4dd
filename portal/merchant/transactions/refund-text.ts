import { catalogue } from '../../ui/language.ts';

/** The texts of a transaction's refunds. */
export const text = catalogue({
  title: ['Refunds', 'ተመላሽ ክፍያዎች'],
  none: ['Nothing was refunded.', 'ተመላሽ ክፍያ የለም።'],
  refund: ['Refund', 'ገንዘብ ይመልሱ'],
  refundOf: (orderNo: string) => [`Refund ${orderNo}`, `የ${orderNo}ን ገንዘብ ይመልሱ`],
  left: (amount: string) => [`Left to refund: ${amount}`, `ሊመለስ የሚችል ቀሪ፦ ${amount}`],
  notPaid: ['Only a payment that has succeeded can be refunded.', 'መመለስ የሚቻለው የተሳካ ክፍያ ብቻ ነው።'],
  held: ['Its money is held: it can be refunded once support has decided.', 'ገንዘቡ ተይዟል፦ የድጋፍ ክፍሉ ሲወስን መመለስ ይቻላል።'],
  nothingLeft: ['The whole payment is refunded or being refunded.', 'ክፍያው በሙሉ ተመልሷል ወይም በመመለስ ላይ ነው።'],
  amountHelp: ['What the customer gets back, in birr', 'ለከፋዩ የሚመለሰው፣ በብር'],
  reason: ['Reason', 'ምክንያት'],
  returnFee: ['Take the fee of the payment back', 'የክፍያው የአገልግሎት ክፍያ ይመለስ'],
  consequence: (amount: string, channel: string) => [
    `The customer gets ${amount} back over ${channel}. It is reserved from your available balance at once, and cannot be called back once it is sent.`,
    `ለከፋዩ ${amount} በ${channel} ይመለስለታል። ገንዘቡ ወዲያውኑ ሊወጣ ከሚችለው ቀሪ ሂሳብዎ ይያዛል፤ ከተላከ በኋላ መመለስ አይቻልም።`,
  ],
  feeReturned: ['You get the same part of the fee and its tax back.', 'ከአገልግሎት ክፍያውና ከግብሩ ተመሳሳይ ድርሻ ለእርስዎ ይመለሳል።'],
  feeKept: ['The fee of the payment is not returned to you.', 'የክፍያው የአገልግሎት ክፍያ አይመለስልዎትም።'],
  secondPerson: [
    'Another person has to confirm this refund before it is sent.',
    'ይህ ተመላሽ ክፍያ ከመላኩ በፊት ሌላ ሰው ማረጋገጥ አለበት።',
  ],
  requested: ['Refund requested', 'ተመላሽ ክፍያ ተጠይቋል'],
  secondPersonPerhaps: [
    'Another person may have to confirm this refund before it is sent.',
    'ይህ ተመላሽ ክፍያ ከመላኩ በፊት ሌላ ሰው ማረጋገጥ ሊኖርበት ይችላል።',
  ],
  requestedBefore: (amount: string, reference: string) => [
    `A refund of ${amount} was requested under the reference ${reference}. Its state is shown with the payment.`,
    `በማጣቀሻ ${reference} የ${amount} ተመላሽ ክፍያ ተጠይቋል። ሁኔታው ከክፍያው ጋር ይታያል።`,
  ],
  paidAmount: ['Paid back', 'ለከፋዩ የተመለሰ'],
  feeBack: ['Fee returned', 'የተመለሰ የአገልግሎት ክፍያ'],
  unconfirmed: ['Fails unless confirmed by', 'ካልተረጋገጠ የማይመለስበት'],
  confirm: ['Confirm the refund', 'ተመላሽ ክፍያውን ያረጋግጡ'],
  confirmQuestion: (amount: string, orderNo: string, channel: string) => [
    `${amount} of ${orderNo} is sent to the customer over ${channel}.`,
    `ከ${orderNo} ${amount} በ${channel} ለከፋዩ ይላካል።`,
  ],
  confirmed: ['Refund confirmed', 'ተመላሽ ክፍያው ተረጋግጧል'],
  decline: ['Decline', 'አይቀበሉት'],
  declineTitle: ['Decline the refund', 'ተመላሽ ክፍያውን አይቀበሉ'],
  declineHelp: ['It fails, and its money returns to the available balance.', 'ገንዘቡ አይመለስም፤ ሊወጣ ወደሚችለው ቀሪ ሂሳብ ይመለሳል።'],
  declined: ['Refund declined', 'ተመላሽ ክፍያው ተቀባይነት አላገኘም'],
  refundId: ['Refund id', 'የተመላሽ ክፍያ መለያ'],
});
