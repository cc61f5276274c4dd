import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A span as it was exported, with its attributes by name. */
export type CollectedSpan = {
  service: string;
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId: string;
  hasFailed: boolean;
  attributes: Record<string, string | number | boolean>;
};

type Value = { stringValue?: string; intValue?: string | number; boolValue?: boolean };
type Attribute = { key: string; value: Value };
type SentSpan = Omit<CollectedSpan, 'service' | 'hasFailed' | 'attributes'> & {
  attributes: Attribute[];
  status: { code?: number };
};
type Sent = {
  resourceSpans: { resource: { attributes: Attribute[] }; scopeSpans: { spans: SentSpan[] }[] }[];
};

const valuesOf = (attributes: Attribute[]) =>
  Object.fromEntries(
    attributes.map(({ key, value }) => [
      key,
      value.stringValue ?? value.boolValue ?? (value.intValue === undefined ? '' : Number(value.intValue)),
    ]),
  );

/** A collector of OpenTelemetry traces over HTTP. `hangs`: it takes requests and never responds. */
export async function startCollector({ hangs = false } = {}) {
  const bodies: string[] = [];
  const headers: Record<string, unknown>[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    bodies.push(Buffer.concat(chunks).toString());
    headers.push(request.headers);
    if (!hangs) response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bodies,
    headers,
    spans: (): CollectedSpan[] =>
      bodies.flatMap((body) =>
        (JSON.parse(body) as Sent).resourceSpans.flatMap(({ resource, scopeSpans }) =>
          scopeSpans.flatMap(({ spans }) =>
            spans.map(({ attributes, status, ...span }) => ({
              ...span,
              service: String(valuesOf(resource.attributes)['service.name']),
              hasFailed: status.code === 2,
              attributes: valuesOf(attributes),
            })),
          ),
        ),
      ),
    close: async (): Promise<void> => {
      server.closeAllConnections();
      server.close();
    },
  };
}
