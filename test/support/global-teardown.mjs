/** Also runs when tests failed. Silent, so that the reporter's line stays the last one. */
export default async function globalTeardown() {
  await globalThis.meskotTestStack?.stop();
}
