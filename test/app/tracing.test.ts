import { startChaosService, PHONES, type ChaosMerchant, type ChaosService } from '../chaos/service.ts';
import { startCollector, type CollectedSpan } from '../support/collector.ts';
import { startProgram, type Program } from '../support/program.ts';
import { until } from '../support/until.ts';

const WITHIN_MS = 60_000;
const PAY = 'POST /api/checkout/sessions/:sessionId/pay';
const CUSTOMER = { customerName: 'Planted Bekele', customerEmail: 'planted@people.example' };

let service: ChaosService;
let collector: Awaited<ReturnType<typeof startCollector>>;
let merchant: ChaosMerchant;
const programs: Program[] = [];

beforeAll(async () => {
  [service, collector] = await Promise.all([startChaosService({ TASK_QUEUES: 'payments,webhooks' }), startCollector()]);
  const settings = {
    ...service.settings,
    WEBHOOK_RETRY_SCHEDULE_SECONDS: '1,300',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20cGxhbnRlZA==,x-tenant=1',
  };
  programs.push(await startProgram('api', settings), await startProgram('worker', settings));
  merchant = await service.newMerchant();
}, 120_000);
afterAll(async () => {
  for (const program of programs) await program.kill();
  await service.close();
  await collector.close();
});

let orders = 0;
/** Pays a session; returns its id. */
async function pay(): Promise<string> {
  orders += 1;
  const order = { checkoutOrderNo: `PLANTED-${orders}`, amount: 20, currency: 'ETB', ...CUSTOMER };
  const { sessionId } = await merchant.client.post('sessions', order);
  await merchant.client.post(`sessions/${String(sessionId)}/pay`, { channel: 'TELEBIRR', phone: PHONES.approved });
  return String(sessionId);
}

/** The spans of the trace whose first request is the last payment, once there are as many webhook attempts in it. */
const traceWith = async (isComplete: (spans: CollectedSpan[]) => boolean): Promise<CollectedSpan[]> =>
  until(
    'the trace of the payment',
    () => {
      const spans = collector.spans();
      const last = spans.findLast(({ name }) => name === PAY);
      const trace = spans.filter(({ traceId }) => traceId === last?.traceId);
      return isComplete(trace) && trace;
    },
    WITHIN_MS,
  );
const attemptsIn = (spans: CollectedSpan[]) => spans.filter(({ name }) => name === 'webhook attempt');
const created = (span: CollectedSpan): boolean => span.attributes['meskot.event'] === 'payment.created';

test('a payment and the delivery of its event are one trace, down to the status of the receiver', async () => {
  await pay();
  const trace = await traceWith((spans) => attemptsIn(spans).some(created));
  const request = trace.find(({ name }) => name === PAY)!;
  expect(request).toMatchObject({
    service: 'meskot-api',
    hasFailed: false,
    attributes: { 'http.route': PAY.slice(5) },
  });
  expect(request.attributes['http.response.status_code']).toBe(202);
  expect(attemptsIn(trace).find(created)).toMatchObject({
    service: 'meskot-worker',
    parentSpanId: request.spanId,
    hasFailed: false,
    attributes: { 'http.response.status_code': 200, 'meskot.merchant_id': merchant.scope.merchantId },
  });
  expect(collector.headers[0]).toMatchObject({ authorization: 'Basic cGxhbnRlZA==', 'x-tenant': '1' });
}, 120_000);

test('a retry is in the trace of its payment: workflow, activity, attempt', async () => {
  const seen = new Set<unknown>();
  merchant.receiver.behave(({ headers }) => {
    const id = headers['x-service-event-id'];
    const isFirst = !seen.has(id);
    seen.add(id);
    return { kind: 'answer', status: isFirst ? 503 : 200, body: 'planted answer' };
  });
  await pay();
  const trace = await traceWith((spans) => attemptsIn(spans).filter(created).length === 2);
  const request = trace.find(({ name }) => name === PAY)!;
  const byStatus = (status: number) =>
    attemptsIn(trace).find((span) => created(span) && span.attributes['http.response.status_code'] === status)!;
  const parentOf = ({ parentSpanId }: CollectedSpan) => trace.find(({ spanId }) => spanId === parentSpanId)!;
  expect(byStatus(503)).toMatchObject({
    hasFailed: true,
    parentSpanId: request.spanId,
    attributes: { 'error.type': 'http_status' },
  });
  const activity = parentOf(byStatus(200));
  expect(activity).toMatchObject({ name: 'activity attemptDelivery', attributes: { 'meskot.try': 1 } });
  const start = parentOf(activity);
  expect(start).toMatchObject({ name: 'start workflow webhookDelivery', parentSpanId: request.spanId });
  expect(start.attributes['meskot.workflow_id']).toBe(activity.attributes['meskot.workflow_id']);
}, 120_000);

test('spans have no names, phones, keys, secrets, addresses or texts of others, and receivers get no trace', () => {
  const all = collector.bodies.join();
  expect(all).toContain('webhook attempt');
  const { key } = merchant.client;
  const url = new URL(merchant.receiver.url);
  for (const planted of [
    'Planted',
    'planted',
    'PLANTED',
    '911000001',
    key,
    'whsec_',
    url.host,
    url.pathname,
    'Abyssinia',
  ])
    expect(all.includes(planted)).toBe(false);
  expect(merchant.receiver.requests.filter(({ headers }) => 'traceparent' in headers)).toEqual([]);
});

test('a collector that hangs delays no request, and not the end of the process', async () => {
  const hanging = await startCollector({ hangs: true });
  const api = programs.shift();
  await api?.terminate();
  const own = await startProgram('api', { ...service.settings, OTEL_EXPORTER_OTLP_ENDPOINT: hanging.url });
  programs.push(own);
  await pay();
  await until('an export that hangs', () => hanging.bodies.length > 0, WITHIN_MS);
  await pay();
  await expect(own.terminate()).resolves.toBe(0);
  await hanging.close();
}, 120_000);
