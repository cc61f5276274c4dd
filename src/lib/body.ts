/** Reads a whole body; null as soon as it exceeds `bytesMax`, with the rest left unread. */
export async function readBody(pieces: AsyncIterable<Buffer>, bytesMax: number): Promise<Buffer | null> {
  const read: Buffer[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.length;
    if (bytes > bytesMax) return null;
    read.push(piece);
  }
  return Buffer.concat(read);
}
