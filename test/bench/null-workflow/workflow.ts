/** What the engine costs when there is nothing to do. */
export async function nothing(): Promise<string> {
  return 'done';
}
