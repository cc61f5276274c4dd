import type { Config } from '../config.ts';

/** Temporal's limit of a summary. */
const SUMMARY_BYTES_MAX = 400;

type Input = Readonly<Record<string, unknown>>;
type Texts = Readonly<Record<string, string | undefined>>;

/**
 * What the Temporal UI shows of a workflow from its start: one line for lists, and Markdown for deliveries and payments. The
 * input is that of an outbox message, which may be of an earlier version.
 */
export function describeWorkflow(
  config: Config,
  workflowType: string,
  input: Input,
): { staticSummary: string; staticDetails?: string } {
  const texts: Texts = Object.fromEntries(
    Object.entries(input).filter((pair): pair is [string, string] => typeof pair[1] === 'string'),
  );
  const { merchantName = texts['merchantId'], environment, checkoutOrderNo, receiverHost, eventType, channel } = texts;
  const order = checkoutOrderNo === undefined ? '' : ` of ${checkoutOrderNo}`;
  const whose = `(${merchantName}, ${environment})`;
  if (workflowType === 'webhookDelivery') {
    const staticSummary = cut(`${eventType}${order} → ${receiverHost} ${whose}`);
    return { staticSummary, staticDetails: deliveryDetails(config.CONSOLE_URL, texts) };
  }
  if (workflowType === 'payment' && checkoutOrderNo !== undefined) {
    return { staticSummary: cut(`payment${order} by ${channel} ${whose}`), staticDetails: headOf(texts).join('\n') };
  }
  const parts = [eventType, channel, environment].filter((part) => part !== undefined);
  return { staticSummary: `${workflowType}: ${parts.join(', ')}` };
}

function headOf({ merchantId, merchantName, environment, checkoutOrderNo }: Texts): string[] {
  const name = merchantName === undefined ? '' : `${escapeMarkdown(merchantName)}, `;
  return [
    `- Merchant: ${name}\`${merchantId}\`, ${environment}`,
    ...(checkoutOrderNo === undefined ? [] : [`- Order: \`${checkoutOrderNo}\``]),
  ];
}

function deliveryDetails(consoleUrl: string | undefined, texts: Texts): string {
  const { deliveryId, eventId, environment, receiverHost } = texts;
  const pages = `${consoleUrl}/${environment === 'live' ? 'live' : 'test'}`;
  const links = `- [Console](${pages}/deliveries/${deliveryId}), [event log](${pages}/events/${eventId})`;
  return [
    ...headOf(texts),
    `- Receiver: \`${receiverHost}\``,
    ...(consoleUrl === undefined || eventId === undefined ? [] : [links]),
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
