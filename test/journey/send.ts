import { Agent, request as undiciRequest } from 'undici';

export type Reply = {
  status: number;
  text: string;
  location: string | null;
  body: { message: string; data: unknown; error?: { code: string } };
};
type Request = { key?: string; body?: unknown; headers?: Record<string, string> };
export type Connection = ReturnType<typeof connectTo>;

/** Requests to the service at this address, and to others, trusting this certificate authority if one is given. */
export function connectTo(baseUrl: string, ca?: string) {
  const dispatcher = new Agent(ca === undefined ? {} : { connect: { ca } });
  return {
    send: async (method: string, path: string, request: Request = {}): Promise<Reply> =>
      sendTo(dispatcher, new URL(path, baseUrl), { method, ...request }),
    close: () => dispatcher.destroy(),
  };
}

async function sendTo(
  dispatcher: Agent,
  url: URL,
  { method, key, body, headers }: Request & { method: string },
): Promise<Reply> {
  const isFile = body instanceof Uint8Array;
  const isText = typeof body === 'string';
  const response = await undiciRequest(url, {
    method: method as 'GET',
    dispatcher,
    headers: {
      ...(key !== undefined && { 'x-api-key': key }),
      ...(body !== undefined && !isFile && { 'content-type': 'application/json' }),
      ...headers,
    },
    body: body === undefined ? null : isFile || isText ? body : JSON.stringify(body),
  });
  const text = await response.body.text();
  const isJson = String(response.headers['content-type']).startsWith('application/json');
  const location = response.headers['location'];
  return {
    status: response.statusCode,
    text,
    location: typeof location === 'string' ? location : null,
    body: isJson ? JSON.parse(text) : { message: text, data: null },
  };
}
