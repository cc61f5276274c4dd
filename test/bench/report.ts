import { judge, type Counts, type Results } from './goals.ts';
import { DELIVERED_BEFORE } from './history.ts';
import type { Lists } from './lists.ts';
import type { Postings } from './postings.ts';
import type { Measured, Webhooks } from './webhooks.ts';
import { BURST, SUBSCRIPTIONS } from './webhooks.ts';

/** The results as a table for people. */
export function tableOf(results: Results, about: Record<string, string | number>): string {
  const { webhooks, lists, postings, counts } = results;
  const parts = [
    Object.entries(about).map(([name, value]) => `${name}: ${value}`),
    ...(webhooks ? [webhookLines(webhooks)] : []),
    ...(lists ? [listLines(lists)] : []),
    ...(postings ? [postingLines(postings)] : []),
    countLines(counts),
    goalLines(results),
  ];
  return `${parts.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

function webhookLines({ failed, every, twin, nullWorkflow }: Webhooks): string[] {
  const { ours, temporal } = nullWorkflow.cpuMs;
  const bursts = [
    burstCells('Meskot, mode "failed"', failed),
    burstCells('Meskot, mode "every"', every),
    burstCells('bare twin', twin),
    [
      'null workflow',
      fixed(nullWorkflow.perSecond, 0),
      fixed(ours + temporal),
      fixed(ours),
      fixed(temporal),
      '',
      '',
      '',
    ],
  ];
  const steadies = [
    ...steadyCells('Meskot, mode "failed"', failed),
    ...steadyCells('Meskot, mode "every"', every),
    ...steadyCells('bare twin', twin),
  ];
  return [
    `Webhooks: a burst of ${BURST} test events published through the API to ${SUBSCRIPTIONS} subscriptions in turn,\nafter ${DELIVERED_BEFORE} earlier ones`,
    ...aligned([['', 'deliveries/s', 'CPU ms each', 'ours', 'Temporal', 'PostgreSQL', 'duplicates'], ...bursts]),
    '',
    'Webhooks at a steady rate: commit to arrival, in ms',
    ...aligned([['', 'events/s', 'p50', 'p95', 'p99', 'CPU ms each', 'duplicates'], ...steadies]),
  ];
}

function burstCells(name: string, { burst }: Measured): string[] {
  const { total, ours, temporal, postgres } = burst.cpuMsPerDelivery;
  const cpu = [total, ours, temporal, postgres].map((ms) => fixed(ms));
  return [name, fixed(burst.deliveriesPerSecond, 0), ...cpu, String(burst.duplicates)];
}

function steadyCells(name: string, { steady }: Measured): string[][] {
  return steady.map((one) => [
    name,
    String(one.perSecond),
    ...[one.p50Ms, one.p95Ms, one.p99Ms].map((ms) => fixed(ms, 1)),
    fixed(one.cpuMsPerDelivery.total),
    String(one.duplicates),
  ]);
}

function listLines({ rows, meskot, twin, ratio, processRatio }: Lists): string[] {
  const cells = (name: string, cost: Lists['twin']): string[] => [
    name,
    ...[cost.cpuMs, cost.process, cost.postgres].map((ms) => fixed(ms)),
  ];
  return [
    `List of 50 transactions with the exact total of ${rows}: CPU ms per request`,
    ...aligned([
      ['', 'in all', 'process', 'PostgreSQL'],
      cells('Meskot', meskot),
      cells('bare twin', twin),
      ['ratio', fixed(ratio), fixed(processRatio), fixed(meskot.postgres / twin.postgres)],
    ]),
  ];
}

function postingLines({ many, hot }: Postings): string[] {
  const cells = (name: string, { ours, pgbench, ratio }: Postings['hot']): string[] => [
    name,
    String(ours),
    String(pgbench),
    fixed(ratio),
  ];
  return [
    'Payments booked in the ledger, a second, each in a transaction of its own',
    ...aligned([['', 'Meskot', 'pgbench', 'ratio'], cells('200 merchants', many), cells('one hot merchant', hot)]),
  ];
}

function countLines(counts: Counts): string[] {
  const { createSession, confirmPayment, createWithdrawal, directDelivery, workflowDelivery } = counts;
  const delivery = (name: string, { statements, emptyLooks }: Counts['directDelivery']): string[] => [
    name,
    String(statements.length),
    `and ${emptyLooks} looks for more that found nothing`,
  ];
  return [
    'Statements, BEGIN and COMMIT not counted',
    ...aligned([
      ['create session', String(createSession.statements.length), 'with an Idempotency-Key'],
      [
        'confirm payment',
        String(confirmPayment.confirmed.statements.length),
        `and ${confirmPayment.afterwards.statements.length} after the commit, to tell workers and workflow`,
      ],
      ['create withdrawal', String(createWithdrawal.statements.length), 'its requestId makes repeats safe'],
      delivery('first-try delivery, mode "failed"', directDelivery),
      delivery('first-try delivery, mode "every"', workflowDelivery),
    ]),
  ];
}

function goalLines(results: Results): string[] {
  const goals = judge(results).map(({ of, what, goal, measured, unit, ok }) => [
    `${ok ? 'ok    ' : 'missed'} ${of} ${what}`,
    goal,
    String(measured),
    unit,
  ]);
  return ['Goals', ...aligned([['', 'goal', 'measured', ''], ...goals])];
}

/** Columns as wide as their widest cell; the first one to the left, figures to the right, words after them to the left. */
function aligned(lines: readonly string[][]): string[] {
  const widths: number[] = [];
  for (const cells of lines)
    cells.forEach((cell, index) => (widths[index] = Math.max(widths[index] ?? 0, cell.length)));
  return lines.map((cells) =>
    cells
      .map((cell, index) => {
        const width = widths[index] ?? 0;
        return index === 0 || /[a-z]{3}.* /i.test(cell) ? cell.padEnd(width) : cell.padStart(width);
      })
      .join('  ')
      .trimEnd(),
  );
}

const fixed = (value: number, digits = 2): string => value.toFixed(digits);
