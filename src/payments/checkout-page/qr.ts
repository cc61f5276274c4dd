import { formatBirr, type Santim } from '../../lib/money.ts';

/** EMVCo gives a value two digits of length. */
const VALUE_CHARACTERS_MAX = 99;
/** Templates 80 to 99 are left to whoever names themselves in their sub-field 00 (EMVCo MPM 1.1, section 4.7). */
const FIRST_OWN_TEMPLATE = 80;
const OWN_NAME = 'et.meskot.checkout';
const URL_PART_CHARACTERS_MAX = VALUE_CHARACTERS_MAX - OWN_NAME.length - 8;
const ETB_NUMERIC = '230';

/**
 * An EMVCo merchant-presented code that carries the payment page's address, in as many own templates as it needs, so
 * that a scanner finds amount and currency, and any phone's camera can be led to the page.
 */
export function qrPayload(payment: { checkoutUrl: string; checkoutOrderNo: string; amountSantim: Santim }): string {
  const parts = payment.checkoutUrl.match(new RegExp(`.{1,${URL_PART_CHARACTERS_MAX}}`, 'g')) ?? [];
  const body = [
    field('00', '01'),
    field('01', '12'),
    field('52', '0000'),
    field('53', ETB_NUMERIC),
    field('54', formatBirr(payment.amountSantim)),
    field('58', 'ET'),
    field('59', 'Meskot Checkout'),
    field('60', 'Addis Ababa'),
    field('62', field('01', payment.checkoutOrderNo.slice(0, 25))),
    ...parts.map((part, index) => field(String(FIRST_OWN_TEMPLATE + index), field('00', OWN_NAME) + field('01', part))),
  ].join('');
  const checked = `${body}6304`;
  return checked + crc16(checked).toString(16).toUpperCase().padStart(4, '0');
}

function field(id: string, value: string): string {
  if (value.length > VALUE_CHARACTERS_MAX) throw new Error(`EMVCo field ${id} is longer than ${VALUE_CHARACTERS_MAX}`);
  return `${id}${String(value.length).padStart(2, '0')}${value}`;
}

/** CRC-16/CCITT-FALSE: polynomial 1021, start FFFF, as EMVCo's field 63 wants it. */
export function crc16(text: string): number {
  let crc = 0xffff;
  for (const byte of Buffer.from(text)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x8000 ? ((crc << 1) ^ 0x1021) & 0xffff : (crc << 1) & 0xffff;
  }
  return crc;
}
