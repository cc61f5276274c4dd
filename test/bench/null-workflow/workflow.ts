/** An empty workflow, for the cost of the engine alone. */
export async function nothing(): Promise<string> {
  return 'done';
}
