import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { crc32, createDeflateRaw } from 'node:zlib';

/** One file in a zip file: its text as it is made. */
export type ZipPart = { name: string; chunks: Iterable<string> | AsyncIterable<string> };

/** PKWARE's APPNOTE, 4.4: version 2.0; sizes after the data, names in UTF-8; deflate. */
const VERSION = 20;
const FLAGS = 0x08_08;
const DEFLATE = 8;
/** 1 January 1980: files that are the same have the same bytes. */
const DATE = 0x00_21;
/** Without its 64-bit form. */
const ZIP_BYTES_MAX = 0xff_ff_ff_ff;

type Entry = { name: Buffer; crc: number; packed: number; unpacked: number; offset: number };

/** A zip file, written while its parts are made. Throws RangeError beyond 4 GB. */
export async function* zipped(parts: Iterable<ZipPart>): AsyncGenerator<Buffer> {
  const entries: Entry[] = [];
  let written = 0;
  const count = (bytes: Buffer): Buffer => {
    written += bytes.length;
    if (written > ZIP_BYTES_MAX) throw new RangeError('a zip file of this form has at most 4 GB');
    return bytes;
  };
  for (const { name, chunks } of parts) {
    const entry: Entry = { name: Buffer.from(name), crc: 0, packed: 0, unpacked: 0, offset: written };
    yield count(localHeader(entry));
    const deflate = createDeflateRaw();
    const fed = pipeline(Readable.from(counted(chunks, entry)), deflate);
    // What fails here ends the reading below as well.
    fed.catch(() => {});
    for await (const packed of deflate as AsyncIterable<Buffer>) {
      entry.packed += packed.length;
      yield count(packed);
    }
    await fed;
    yield count(numbers([0x08_07_4b_50, 4], [entry.crc, 4], [entry.packed, 4], [entry.unpacked, 4]));
    entries.push(entry);
  }
  const start = written;
  for (const entry of entries) yield count(centralHeader(entry));
  const size = written - start;
  const total = entries.length;
  yield numbers([0x06_05_4b_50, 4], [0, 4], [total, 2], [total, 2], [size, 4], [start, 4], [0, 2]);
}

async function* counted(chunks: ZipPart['chunks'], entry: Entry): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    const bytes = Buffer.from(chunk);
    entry.crc = crc32(bytes, entry.crc);
    entry.unpacked += bytes.length;
    yield bytes;
  }
}

function localHeader({ name }: Entry): Buffer {
  const fixed = numbers(
    [0x04_03_4b_50, 4],
    [VERSION, 2],
    [FLAGS, 2],
    [DEFLATE, 2],
    [0, 2],
    [DATE, 2],
    [0, 4],
    [0, 4],
    [0, 4],
    [name.length, 2],
    [0, 2],
  );
  return Buffer.concat([fixed, name]);
}

function centralHeader({ name, crc, packed, unpacked, offset }: Entry): Buffer {
  const fixed = numbers(
    [0x02_01_4b_50, 4],
    [VERSION, 2],
    [VERSION, 2],
    [FLAGS, 2],
    [DEFLATE, 2],
    [0, 2],
    [DATE, 2],
    [crc, 4],
    [packed, 4],
    [unpacked, 4],
    [name.length, 2],
    // No extra field, comment, disk or attributes.
    [0, 4],
    [0, 4],
    [0, 4],
    [offset, 4],
  );
  return Buffer.concat([fixed, name]);
}

/** Whole numbers in so many bytes each, the lowest first. */
function numbers(...wanted: [value: number, bytes: 2 | 4][]): Buffer {
  const buffer = Buffer.alloc(wanted.reduce((length, [, bytes]) => length + bytes, 0));
  let at = 0;
  for (const [value, bytes] of wanted) at = buffer.writeUIntLE(value, at, bytes);
  return buffer;
}
