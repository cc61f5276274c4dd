/** Calls Meskot's API with the shop's key; the answer's `data`, or what went wrong as a sentence. */
export type ShopApi = (call: ApiCall) => Promise<{ data: Record<string, unknown> } | { problem: string }>;

export type ApiCall = { path: string; idempotencyKey: string; body: Record<string, unknown> };

const API_TIMEOUT_MS = 5_000;

/** All a shop needs of a client. Its key stays on this server; the customer's browser never sees it. */
export function createShopApi({ apiUrl, apiKey }: { apiUrl: string; apiKey: string }): ShopApi {
  return async ({ path, idempotencyKey, body }) => {
    const response = await fetch(`${apiUrl}/api/checkout/${path}`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json', 'idempotency-key': idempotencyKey },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(API_TIMEOUT_MS),
    }).catch(() => null);
    if (response === null) return { problem: `Meskot at ${apiUrl} does not answer.` };
    const answered = (await response.json().catch(() => null)) as {
      message?: string;
      data?: Record<string, unknown>;
    } | null;
    if (!response.ok || !answered?.data) {
      return { problem: `Meskot answered ${response.status}: ${answered?.message ?? 'without a message'}` };
    }
    return { data: answered.data };
  };
}
