import type { ReadMovement } from '../../ledger/balance.ts';
import { inAddis } from '../../lib/dates.ts';
import { toBirr, type Santim } from '../../lib/money.ts';
import { timeText } from '../sources/columns.ts';
import type { Statement, StatementAccount } from '../sources/statement.ts';
import { INK, LEFT, RIGHT, type PdfPage } from './pdf-page.ts';

/** Two columns of facts: where each starts, the width of its values, and the keys of its facts. */
const FACT_COLUMNS = [
  {
    x: LEFT,
    width: 180,
    keys: [
      'settlementId',
      'requestId',
      'status',
      'requestedAtAddis',
      'effectiveDate',
      'expectedBy',
      'sentAtAddis',
      'creditedAtAddis',
      'returnedAtAddis',
      'failureCode',
    ],
  },
  {
    x: LEFT + 280,
    width: RIGHT - LEFT - 370,
    keys: [
      'amount',
      'fee',
      'feeTax',
      'totalDebit',
      'reserved',
      'bank',
      'accountNumber',
      'accountName',
      'bankReference',
    ],
  },
] as const;
const FACT_VALUE_X = 90;

const LINE_HEIGHT = 13;
/** Where the columns of movements start, and where those of amounts end. */
const AT = { time: LEFT, type: LEFT + 92, resource: LEFT + 200, amount: RIGHT - 82, balance: RIGHT } as const;

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
  const columns = FACT_COLUMNS.map(({ x, width, keys }) => {
    const lines = keys.flatMap((key) => {
      const { heading = '', cell = null } = facts.get(key) ?? {};
      if (cell === null || cell === '') return [];
      const label = heading.replace(' (Addis Ababa, UTC+3)', '');
      const value = typeof cell === 'bigint' ? amountText(cell) : String(cell);
      return page.wrap(value, width).map((text, index) => ({ label: index === 0 ? label : '', text }));
    });
    return { x, lines };
  });
  const height = Math.max(...columns.map(({ lines }) => lines.length));
  for (let number = 0; number < height; number += 1) {
    page.needs(LINE_HEIGHT);
    for (const { x, lines } of columns) {
      const line = lines[number];
      if (!line) continue;
      page.write(line.label, x, { color: INK.quiet });
      page.write(line.text, x + FACT_VALUE_X);
    }
    page.y += LINE_HEIGHT;
  }
}

const AMOUNT = new Intl.NumberFormat('en', { minimumFractionDigits: 2 });

/** "-1,250.50" */
function amountText(santim: Santim): string {
  return AMOUNT.format(toBirr(santim));
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
    page.write(String(count), AT.resource, { isRight: true, color: INK.quiet });
    page.write(amountText(amountSantim), AT.resource + 90, { isRight: true });
    page.y += LINE_HEIGHT;
  }
  page.y += 10;
}

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
      writeMovement(page, movement);
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
  const style = { size: 7, isBold: true };
  page.write('Time', AT.time + 4, style);
  page.write('Movement', AT.type, style);
  page.write('Of', AT.resource, style);
  page.write('Amount', AT.amount, { ...style, isRight: true });
  page.write('Balance', AT.balance - 4, { ...style, isRight: true });
  page.y += LINE_HEIGHT + 1;
}

function writeBalanceLine(page: PdfPage, label: string, santim: Santim): void {
  page.write(label, AT.type, { isBold: true });
  page.write(amountText(santim), AT.balance - 4, { isBold: true, isRight: true });
  endLine(page);
}

function writeMovement(page: PdfPage, movement: ReadMovement): void {
  const style = { size: 7.5 };
  page.write(addisText(movement.effectiveAt), AT.time + 4, style);
  page.write(typeText(movement.type), AT.type, style);
  page.write(movement.resourceId, AT.resource, { size: 7, color: INK.quiet });
  page.write(amountText(movement.amountSantim), AT.amount, { ...style, isRight: true });
  page.write(amountText(movement.balanceAfterSantim), AT.balance - 4, { ...style, isRight: true });
  endLine(page);
}

function endLine(page: PdfPage): void {
  page.y += LINE_HEIGHT - 2;
  page.rule();
  page.y += 2;
}

const addisText = (instant: Date): string => timeText(inAddis(instant));

/** "Withdrawal reserved" */
function typeText(type: string): string {
  return `${type.charAt(0)}${type.slice(1).toLowerCase().replaceAll('_', ' ')}`;
}
