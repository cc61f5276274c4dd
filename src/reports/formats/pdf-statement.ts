import type { ReadMovement } from '../../ledger/balance.ts';
import { inAddis } from '../../lib/dates.ts';
import { invalid } from '../../lib/errors.ts';
import type { Santim } from '../../lib/money.ts';
import { timeText } from '../sources/columns.ts';
import type { Statement, StatementAccount } from '../sources/statement.ts';
import { amountText, INK, LEFT, LINE_HEIGHT, RIGHT, typeText, type PdfPage, type TextStyle } from './pdf-page.ts';
import type { Rendering } from './rendering.ts';

/** Movements in one file: a thousand pages, written in 15 seconds. */
export const PDF_MOVEMENTS_MAX = 50_000;
const TOO_MANY_MOVEMENTS = `PDF lists at most ${PDF_MOVEMENTS_MAX} movements, and these settlements have more: request fewer days, or kind balance as CSV or XLSX, which lists the same movements`;

/** Statements of settlements, each starting on a new page. Yields whenever chunks can be sent. */
export async function* writeStatements(
  page: PdfPage,
  { sums, pages, statementOf }: Rendering,
  setSubject: (subject: string) => void,
): AsyncGenerator<void> {
  let count = 0;
  let movements = 0;
  for await (const rows of pages) {
    for (const cells of rows) {
      const statement = await statementOf(cells);
      count += 1;
      for (const total of statement.account?.totals ?? []) movements += total.count;
      if (movements > PDF_MOVEMENTS_MAX) {
        const params = { maximum: PDF_MOVEMENTS_MAX };
        throw invalid('format', { issue: TOO_MANY_MOVEMENTS, code: 'rows_too_many', params });
      }
      setSubject(`Settlement ${count} of ${sums.count}`);
      page.turn();
      yield* writeStatement(page, statement);
    }
  }
  if (count > 0) return;
  page.turn();
  page.write('There are no settlements of these days and status.', LEFT, { size: 10 });
}

/** The facts of a settlement, in two columns. */
const FACTS = [
  ['settlementId', 'amount'],
  ['requestId', 'fee'],
  ['status', 'feeTax'],
  ['requestedAtAddis', 'totalDebit'],
  ['effectiveDate', 'reserved'],
  ['expectedBy', 'bank'],
  ['sentAtAddis', 'accountNumber'],
  ['creditedAtAddis', 'accountName'],
  ['returnedAtAddis', 'bankReference'],
  ['failureCode', ''],
] as const;
/** Where each column starts, and the width of its values. */
const FACT_COLUMNS = [
  { side: 0, x: LEFT, width: 180 },
  { side: 1, x: LEFT + 280, width: RIGHT - LEFT - 370 },
] as const;
const FACT_VALUE_X = 90;

/** Writes one statement below the header of a page. Yields after each page of movements, so that chunks can be sent. */
export async function* writeStatement(page: PdfPage, { facts, account }: Statement): AsyncGenerator<void> {
  writeFacts(page, facts);
  page.y += 8;
  if (account === null) return page.write('Not booked: no money was moved.', LEFT);
  writeBalances(page, account);
  writeTotals(page, account);
  yield* writeMovements(page, account);
}

/** Facts without a value are left out. */
function writeFacts(page: PdfPage, facts: Statement['facts']): void {
  const top = page.y;
  const bottoms = FACT_COLUMNS.map(({ side, x, width }) => {
    page.y = top;
    for (const pair of FACTS) {
      const { heading = '', cell = null } = facts.get(pair[side]) ?? {};
      if (cell === null || cell === '') continue;
      page.write(heading.replace(' (Addis Ababa, UTC+3)', ''), x, { color: INK.quiet });
      for (const line of page.wrap(typeof cell === 'bigint' ? amountText(cell) : String(cell), width)) {
        page.write(line, x + FACT_VALUE_X);
        page.y += LINE_HEIGHT;
      }
    }
    return page.y;
  });
  page.y = Math.max(...bottoms);
}

function writeBalances(page: PdfPage, account: StatementAccount): void {
  const sum = (isIncluded: (santim: Santim) => boolean): Santim =>
    account.totals.reduce((all, { amountSantim }) => all + (isIncluded(amountSantim) ? amountSantim : 0n), 0n);
  const balances = [
    ['Opening balance', account.openingSantim],
    ['Came in', sum((santim) => santim > 0n)],
    ['Went out', sum((santim) => santim < 0n)],
    ['Closing balance', account.closingSantim],
  ] as const;
  page.needs(80);
  page.band(40);
  const width = (RIGHT - LEFT) / balances.length;
  for (const [index, [label, santim]] of balances.entries()) {
    const x = LEFT + 10 + index * width;
    page.y += 7;
    page.write(label, x, { color: INK.quiet });
    page.y += 12;
    page.write(amountText(santim), x, { size: 11, isBold: true });
    page.y -= 19;
  }
  page.y += 47;
  const { from, until, previousSettlementId } = account;
  const since = from ? `after ${addisText(from)}, when ${previousSettlementId} was requested` : 'from the beginning';
  const about = `Movements of the available balance ${since}, to ${addisText(until)}`;
  page.write(about, LEFT, { size: 7, color: INK.quiet });
  page.y += 18;
}

function writeTotals(page: PdfPage, { totals }: StatementAccount): void {
  for (const { type, count, amountSantim } of totals) {
    page.needs(LINE_HEIGHT);
    page.write(typeText(type), LEFT);
    page.write(String(count), LEFT + 200, { isRight: true, color: INK.quiet });
    page.write(amountText(amountSantim), LEFT + 290, { isRight: true });
    page.y += LINE_HEIGHT;
  }
  page.y += 10;
}

type MovementColumn = { heading: string; x: number; style?: TextStyle; text: (movement: ReadMovement) => string };

/** The columns of movements: where each starts, or ends when right-aligned. */
const COLUMNS: readonly MovementColumn[] = [
  { heading: 'Time', x: LEFT + 4, text: ({ effectiveAt }) => addisText(effectiveAt) },
  { heading: 'Movement', x: LEFT + 92, text: ({ type }) => typeText(type) },
  { heading: 'Of', x: LEFT + 200, style: { size: 7, color: INK.quiet }, text: ({ resourceId }) => resourceId },
  { heading: 'Amount', x: RIGHT - 82, style: { isRight: true }, text: (movement) => amountText(movement.amountSantim) },
  {
    heading: 'Balance',
    x: RIGHT - 4,
    style: { isRight: true },
    text: (movement) => amountText(movement.balanceAfterSantim),
  },
];

async function* writeMovements(page: PdfPage, account: StatementAccount): AsyncGenerator<void> {
  page.needs(5 * LINE_HEIGHT);
  writeHeadings(page);
  writeBalanceLine(page, 'Opening balance', account.openingSantim);
  let balance = account.openingSantim;
  for await (const movements of account.movements) {
    for (const movement of movements) {
      balance += movement.amountSantim;
      if (balance !== movement.balanceAfterSantim) {
        throw new Error(`the balance after ${movement.resourceId} is not the sum of the movements`);
      }
      if (page.needs(LINE_HEIGHT)) writeHeadings(page);
      for (const { x, style, text } of COLUMNS) page.write(text(movement), x, { size: 7.5, ...style });
      page.endLine();
    }
    yield;
  }
  if (balance !== account.closingSantim) throw new Error('movements of a settlement are missing');
  if (page.needs(LINE_HEIGHT)) writeHeadings(page);
  writeBalanceLine(page, 'Closing balance', account.closingSantim);
}

function writeHeadings(page: PdfPage): void {
  page.band(LINE_HEIGHT + 1);
  page.y += 3;
  for (const { heading, x, style } of COLUMNS) {
    page.write(heading, x, { ...style, size: 7, color: INK.text, isBold: true });
  }
  page.y += LINE_HEIGHT + 1;
}

function writeBalanceLine(page: PdfPage, label: string, santim: Santim): void {
  page.write(label, LEFT + 92, { isBold: true });
  page.write(amountText(santim), RIGHT - 4, { isBold: true, isRight: true });
  page.endLine();
}

const addisText = (instant: Date): string => timeText(inAddis(instant));
