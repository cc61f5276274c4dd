import { KYC_TRANSITIONS } from '../../src/merchants/kyc/states.ts';
import { ATTEMPT_TRANSITIONS, SESSION_TRANSITIONS, transactionStatusOf } from '../../src/payments/states.ts';
import { REFUND_STAGE_TRANSITIONS, REFUND_TRANSITIONS } from '../../src/payouts/refunds/states.ts';
import { STAGE_TRANSITIONS, WITHDRAWAL_TRANSITIONS } from '../../src/payouts/withdrawals/states.ts';
import { REPORT_TRANSITIONS } from '../../src/reports/states.ts';
import { SETTLEMENT_TRANSITIONS } from '../../src/settlements/states.ts';
import { DELIVERY_TRANSITIONS } from '../../src/webhooks/delivery/states.ts';

export const ARCHITECTURE_FILE = new URL('../../docs/architecture.md', import.meta.url);

type Diagram = { start: readonly string[]; transitions: Readonly<Record<string, readonly string[]>> };

/** The diagrams by their names in docs/architecture.md. */
const DIAGRAMS: Readonly<Record<string, Diagram>> = {
  session: { start: ['OPEN'], transitions: SESSION_TRANSITIONS },
  transaction: { start: ['PENDING'], transitions: transactionTransitions() },
  'payment attempt': { start: ['CREATED'], transitions: ATTEMPT_TRANSITIONS },
  refund: { start: ['PENDING'], transitions: REFUND_TRANSITIONS },
  'stage of a refund': { start: ['AWAITING_CONFIRMATION', 'CREATED'], transitions: REFUND_STAGE_TRANSITIONS },
  delivery: { start: ['PENDING', 'SKIPPED'], transitions: DELIVERY_TRANSITIONS },
  withdrawal: { start: ['PENDING'], transitions: WITHDRAWAL_TRANSITIONS },
  'stage of a withdrawal': {
    start: ['AWAITING_CONFIRMATION', 'CREATED', 'UNDER_REVIEW'],
    transitions: STAGE_TRANSITIONS,
  },
  settlement: { start: ['REQUESTED'], transitions: SETTLEMENT_TRANSITIONS },
  'KYC application': { start: ['NOT_STARTED'], transitions: KYC_TRANSITIONS },
  report: { start: ['QUEUED'], transitions: REPORT_TRANSITIONS },
};

export const DIAGRAM_NAMES = Object.keys(DIAGRAMS);

/** A transaction's status follows its session's. */
function transactionTransitions(): Diagram['transitions'] {
  const found: Record<string, string[]> = {};
  for (const from of Object.keys(SESSION_TRANSITIONS) as (keyof typeof SESSION_TRANSITIONS)[]) {
    const before = transactionStatusOf(from);
    const after = SESSION_TRANSITIONS[from].map(transactionStatusOf).filter((status) => status !== before);
    found[before] = [...new Set([...(found[before] ?? []), ...after])];
  }
  return found;
}

function mermaid({ start, transitions }: Diagram): string {
  const arrows = Object.entries(transitions).flatMap(([from, after]) => after.map((to) => `  ${from} --> ${to}`));
  const lines = ['stateDiagram-v2', ...start.map((status) => `  [*] --> ${status}`), ...arrows];
  return ['```mermaid', ...lines, '```'].join('\n');
}

/** The text of docs/architecture.md with each diagram, which follows `<!-- states: name -->`, made from states.ts. */
export function withStateDiagrams(text: string): string {
  return text.replaceAll(/(<!-- states: ([\w ]+) -->\n\n)```mermaid\n[^`]*```/g, (_, mark: string, name: string) => {
    const diagram = DIAGRAMS[name];
    if (!diagram)
      throw new Error(`docs/architecture.md has a diagram of "${name}", which test/docs/state-diagrams.ts lacks`);
    return mark + mermaid(diagram);
  });
}
