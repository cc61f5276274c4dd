import { catalogue } from '../../ui/language.ts';

/** The texts of a new payment. */
export const text = catalogue({
  title: ['New payment', 'አዲስ ክፍያ'],
  intro: ['Creates a link and a QR code that your customer pays with.', 'ደንበኛዎ የሚከፍልበትን አገናኝና የQR ኮድ ይፈጥራል።'],
  amount: ['Amount (ETB)', 'መጠን (ብር)'],
  wrongAmount: ['An amount in birr: 100 or 99.50', 'መጠን በብር፦ 100 ወይም 99.50'],
  checkoutOrderNo: ['Checkout Order No', 'የትእዛዝ ቁጥር'],
  orderHint: ['Your own reference; each can be used once.', 'የራስዎ ማጣቀሻ፤ እያንዳንዱ አንድ ጊዜ ብቻ ያገለግላል።'],
  customerName: ['Customer', 'ደንበኛ'],
  customerPhone: ['Phone of the customer', 'የደንበኛው ስልክ'],
  create: ['Create', 'ፍጠር'],
  status: ['Status', 'ሁኔታ'],
  validUntil: ['Valid until', 'የሚያገለግለው እስከ'],
  qr: ['QR code of the payment page', 'የክፍያ ገጹ QR ኮድ'],
  link: ['Link to the payment page', 'የክፍያ ገጹ አገናኝ'],
  openPage: ['Open the payment page', 'የክፍያ ገጹን ይክፈቱ'],
  toTransaction: ['Its transaction', 'ግብይቱ'],
  paid: ['It is paid.', 'ተከፍሏል።'],
  over: ['It has ended without a payment.', 'ሳይከፈል አብቅቷል።'],
});
