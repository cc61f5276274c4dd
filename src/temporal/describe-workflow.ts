import { consoleUrlOf, type Config } from '../config.ts';

/** Temporal's limit of a summary. */
const SUMMARY_BYTES_MAX = 400;

type Input = Readonly<Record<string, unknown>>;
type Description = { staticSummary: string; staticDetails?: string };

/**
 * What the Temporal UI shows of a workflow from its start: one line for lists, and Markdown for deliveries and payments. The
 * input is that of an outbox message, which may be of an earlier version.
 */
export function describeWorkflow(config: Config, workflowType: string, input: Input): Description {
  const text = (name: string): string | undefined => {
    const value = input[name];
    return typeof value === 'string' ? value : undefined;
  };
  const { merchantName = text('merchantId'), environment, checkoutOrderNo, receiverHost } = textsOf(text);
  const order = checkoutOrderNo === undefined ? '' : ` of ${checkoutOrderNo}`;
  const whose = `(${merchantName}, ${environment})`;
  if (workflowType === 'webhookDelivery') {
    const staticSummary = cut(`${text('eventType')}${order} → ${receiverHost} ${whose}`);
    return { staticSummary, staticDetails: deliveryDetails(config, text) };
  }
  if (workflowType === 'payment' && checkoutOrderNo !== undefined) {
    const staticSummary = cut(`payment${order} by ${text('channel')} ${whose}`);
    return { staticSummary, staticDetails: headOf(text).join('\n') };
  }
  const parts = [text('eventType'), text('channel'), environment].filter((part) => part !== undefined);
  return { staticSummary: `${workflowType}: ${parts.join(', ')}` };
}

type Text = (name: string) => string | undefined;

const textsOf = (text: Text) => ({
  merchantName: text('merchantName'),
  environment: text('environment'),
  checkoutOrderNo: text('checkoutOrderNo'),
  receiverHost: text('receiverHost'),
});

function headOf(text: Text): string[] {
  const { merchantName, environment, checkoutOrderNo } = textsOf(text);
  const name = merchantName === undefined ? '' : `${escapeMarkdown(merchantName)}, `;
  return [
    `- Merchant: ${name}\`${text('merchantId')}\`, ${environment}`,
    ...(checkoutOrderNo === undefined ? [] : [`- Order: \`${checkoutOrderNo}\``]),
  ];
}

function deliveryDetails(config: Config, text: Text): string {
  const [deliveryId, eventId] = [text('deliveryId'), text('eventId')];
  const base = consoleUrlOf(config);
  const pages = `${base}/${text('environment') === 'live' ? 'live' : 'test'}`;
  const console =
    base === null || eventId === undefined
      ? []
      : [`- [Console](${pages}/deliveries/${deliveryId}), [event log](${pages}/events/${eventId})`];
  return [
    ...headOf(text),
    `- Receiver: \`${text('receiverHost')}\``,
    ...console,
    `- All attempts: \`meskot deliveries get ${deliveryId}\``,
    '',
    'To send again: More Actions → Send an Update → resend. Request Cancellation gives the delivery up.',
  ].join('\n');
}

const escapeMarkdown = (text: string): string => text.replaceAll(/[\\`*_{}[\]()<>#+!|~&-]/g, String.raw`\$&`);

/** Without a character that was cut in two. */
function cut(summary: string): string {
  const bytes = Buffer.from(summary);
  if (bytes.length <= SUMMARY_BYTES_MAX) return summary;
  return `${new TextDecoder().decode(bytes.subarray(0, SUMMARY_BYTES_MAX - 3), { stream: true })}…`;
}
