import { randomBytes } from 'node:crypto';

/** Every kind of id, by its prefix. `evt_01JD…`: prefix, underscore, 26 characters of UUIDv7 in Crockford base32. */
export type IdPrefix =
  | 'mrc'
  | 'key'
  | 'cs'
  | 'txn'
  | 'pat'
  | 'evt'
  | 'whs'
  | 'whd'
  | 'wha'
  | 'whl'
  | 'whj'
  | 'whr'
  | 'obx'
  | 'jrn'
  | 'fee'
  | 'lim'
  | 'wd'
  | 'rfd'
  | 'stl'
  | 'rcd'
  | 'rcp'
  | 'bac'
  | 'rpt'
  | 'rsc'
  | 'req'
  | 'opr'
  | 'opk'
  | 'inv'
  | 'prp'
  | 'pcr'
  | 'aud'
  | 'kyd'
  | 'hol'
  | 'mnt'
  | 'usr'
  | 'ses'
  | 'utk'
  | 'pky'
  | 'mai'
  | 'mau'
  | 'viw';

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/**
 * A new id that sorts by its creation time (milliseconds) and cannot be guessed (74 random bits). Contains letters, digits
 * and one underscore only: safe in URLs, workflow ids and `webhook-id` headers.
 */
export function newId(prefix: IdPrefix, atMs: number = Date.now()): string {
  const bytes = takeRandom();
  bytes.writeUIntBE(atMs, 0, 6);
  bytes[6] = 0x70 | (bytes[6]! & 0x0f);
  bytes[8] = 0x80 | (bytes[8]! & 0x3f);
  return `${prefix}_${crockford(bytes)}`;
}

const ID_BYTES = 16;
const POOL_BYTES = 256 * ID_BYTES;
let pool = Buffer.alloc(0);

/** Random bytes for one id. They are drawn for 256 ids at once: a draw costs more than an id. */
function takeRandom(): Buffer {
  if (pool.length === 0) pool = randomBytes(POOL_BYTES);
  const taken = pool.subarray(0, ID_BYTES);
  pool = pool.subarray(ID_BYTES);
  return taken;
}

/** 128 bits as 26 characters of 5 bits, two zero bits in front. */
function crockford(bytes: Buffer): string {
  let text = '';
  let bits = 2;
  let value = 0;
  for (const byte of bytes) {
    value = (value << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += ALPHABET[(value >> bits) & 31];
    }
    value &= (1 << bits) - 1;
  }
  return text;
}
