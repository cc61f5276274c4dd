/** Received headers, names in lower case. */
type RawHeaders = Readonly<Record<string, string | string[] | undefined>>;

const HEADERS_MAX = 64;
const HEADER_NAME_CHARACTERS_MAX = 128;
const HEADER_VALUE_CHARACTERS_MAX = 512;
/** With a larger share of unreadable characters a body is not stored as text. */
const UNREADABLE_SHARE_MAX = 0.1;

/** The response headers to store: at most 64, each cut to 512 characters, without control characters. */
export function headersToStore(headers: RawHeaders): Record<string, string> {
  const stored: Record<string, string> = {};
  let count = 0;
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined || name === '__proto__') continue;
    if (++count > HEADERS_MAX) break;
    const text = typeof value === 'string' ? value : value.join(', ');
    stored[clean(name.slice(0, HEADER_NAME_CHARACTERS_MAX))] = clean(text.slice(0, HEADER_VALUE_CHARACTERS_MAX));
  }
  return stored;
}

/** The beginning of a body as text that PostgreSQL accepts; of a compressed or binary one only its size. */
export function excerptOf(chunks: readonly Buffer[], headers: RawHeaders): string {
  const [first] = chunks;
  if (first === undefined) return '';
  const bytes = chunks.length === 1 ? first : Buffer.concat(chunks);
  const encoding = String(headers['content-encoding'] ?? 'identity');
  if (encoding !== 'identity') return clean(`(${bytes.length} bytes in ${encoding.slice(0, 40)}, not decoded)`);
  // As a stream, so that a character cut in two at the end is left out rather than replaced.
  const text = new TextDecoder().decode(bytes, { stream: true });
  const unreadable = text.match(/[\0\uFFFD]/g)?.length ?? 0;
  if (unreadable > text.length * UNREADABLE_SHARE_MAX) return `(${bytes.length} bytes, not text)`;
  return clean(text);
}

/** Without halves of characters, and without control characters but tab and line breaks. */
function clean(text: string): string {
  return text.replace(/\p{Cs}|[^\P{Cc}\t\n\r]/gu, '');
}
