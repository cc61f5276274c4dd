import { inAddis } from '../../lib/dates.ts';
import type { Santim } from '../../lib/money.ts';
import { clockText, type Cell } from '../sources/columns.ts';
import type { Statement, StatementAccount, StatementMovement } from '../sources/statement.ts';
import { INK, LEFT, RIGHT, type PdfPage } from './pdf-layout.ts';
import { birrText } from './rendering.ts';

/** Columns' keys, as they stand below each other on either side; what is empty is left out. */
const FACTS = [
  [
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
  ['amount', 'fee', 'feeTax', 'totalDebit', 'reserved', 'bank', 'accountNumber', 'accountName', 'bankReference'],
] as const;
const FACT_AT = 90;
/** Where each side begins, and how wide what stands under a heading may be. */
const SIDES = [
  { x: LEFT, width: 180 },
  { x: LEFT + 280, width: RIGHT - LEFT - 280 - FACT_AT },
] as const;

const LINE_HEIGHT = 13;
/** Where the columns of movements begin, and where those of amounts end. */
const AT = { time: LEFT, type: LEFT + 92, resource: LEFT + 200, amount: RIGHT - 82, balance: RIGHT } as const;

/** Prints one settlement below the head of a page; yields when there is something to be taken away. */
export async function* printStatement(paper: PdfPage, { facts, account }: Statement): AsyncGenerator<void> {
  printFacts(paper, facts);
  paper.y += 8;
  if (account === null) return paper.write('It was never booked: it moved no money.', LEFT);
  printBalances(paper, account);
  printTotals(paper, account);
  yield* printMovements(paper, account);
}

function printFacts(paper: PdfPage, facts: Statement['facts']): void {
  const sides = SIDES.map(({ x, width }, side) => {
    const lines = (FACTS[side] ?? []).flatMap((key) => linesOf(facts, key, (text) => paper.inLines(text, width)));
    return { x, lines };
  });
  const height = Math.max(...sides.map(({ lines }) => lines.length));
  for (let number = 0; number < height; number += 1) {
    paper.needs(LINE_HEIGHT);
    for (const { x, lines } of sides) {
      const line = lines[number];
      if (!line) continue;
      paper.write(line.heading, x, { color: INK.quiet });
      paper.write(line.text, x + FACT_AT);
    }
    paper.y += LINE_HEIGHT;
  }
}

/** Its heading stands before the first of its lines; what is empty has none. */
function linesOf(facts: Statement['facts'], key: string, inLines: (text: string) => string[]) {
  const { heading = '', cell = null } = facts.get(key) ?? {};
  const text = textOf(cell);
  if (text === '') return [];
  const shown = heading.replace(' (Addis Ababa, UTC+3)', '');
  return inLines(text).map((line, number) => ({ heading: number === 0 ? shown : '', text: line }));
}

function textOf(cell: Cell): string {
  return typeof cell === 'bigint' ? grouped(cell) : String(cell ?? '');
}

/** "-1,250.50" */
function grouped(santim: Santim): string {
  return birrText(santim).replaceAll(/\B(?=(?:\d{3})+[.])/g, ',');
}

function printBalances(paper: PdfPage, account: StatementAccount): void {
  const sum = (isWanted: (santim: Santim) => boolean): Santim =>
    account.totals.reduce((all, { amountSantim }) => all + (isWanted(amountSantim) ? amountSantim : 0n), 0n);
  const shown = [
    ['Opening balance', account.openingSantim],
    ['Came in', sum((santim) => santim > 0n)],
    ['Went out', sum((santim) => santim < 0n)],
    ['Closing balance', account.closingSantim],
  ] as const;
  paper.needs(80);
  paper.band(40);
  const width = (RIGHT - LEFT) / shown.length;
  for (const [index, [label, santim]] of shown.entries()) {
    const x = LEFT + 10 + index * width;
    paper.y += 7;
    paper.write(label, x, { color: INK.quiet });
    paper.y += 12;
    paper.write(grouped(santim), x, { size: 11, isBold: true });
    paper.y -= 19;
  }
  paper.y += 47;
  const { from, until, previousSettlementId } = account;
  const since = from ? `after ${addisText(from)}, when ${previousSettlementId} was asked for` : 'from the first';
  const about = `Movements of the available balance ${since}, to ${addisText(until)}`;
  paper.write(about, LEFT, { size: 7, color: INK.quiet });
  paper.y += 18;
}

function printTotals(paper: PdfPage, { totals }: StatementAccount): void {
  for (const { type, count, amountSantim } of totals) {
    paper.needs(LINE_HEIGHT);
    paper.write(nameOf(type), LEFT);
    paper.write(String(count), AT.resource, { isRight: true, color: INK.quiet });
    paper.write(grouped(amountSantim), AT.resource + 90, { isRight: true });
    paper.y += LINE_HEIGHT;
  }
  paper.y += 10;
}

async function* printMovements(paper: PdfPage, account: StatementAccount): AsyncGenerator<void> {
  paper.needs(5 * LINE_HEIGHT);
  printHeadings(paper);
  printEnd(paper, 'Opening balance', account.openingSantim);
  let balance = account.openingSantim;
  for await (const movements of account.movements) {
    for (const movement of movements) {
      balance += movement.amountSantim;
      if (balance !== movement.balanceAfterSantim) throw new Error(`${movement.resourceId} leaves another balance`);
      if (paper.needs(LINE_HEIGHT)) printHeadings(paper);
      printMovement(paper, movement);
    }
    yield;
  }
  if (balance !== account.closingSantim) throw new Error('movements of a settlement are missing');
  if (paper.needs(LINE_HEIGHT)) printHeadings(paper);
  printEnd(paper, 'Closing balance', account.closingSantim);
}

function printHeadings(paper: PdfPage): void {
  paper.band(LINE_HEIGHT + 1);
  paper.y += 3;
  const style = { size: 7, isBold: true };
  paper.write('Time', AT.time + 4, style);
  paper.write('Movement', AT.type, style);
  paper.write('Of', AT.resource, style);
  paper.write('Amount', AT.amount, { ...style, isRight: true });
  paper.write('Balance', AT.balance - 4, { ...style, isRight: true });
  paper.y += LINE_HEIGHT + 1;
}

function printEnd(paper: PdfPage, label: string, santim: Santim): void {
  paper.write(label, AT.type, { isBold: true });
  paper.write(grouped(santim), AT.balance - 4, { isBold: true, isRight: true });
  ruleOff(paper);
}

function printMovement(paper: PdfPage, movement: StatementMovement): void {
  const style = { size: 7.5 };
  paper.write(addisText(movement.at), AT.time + 4, style);
  paper.write(nameOf(movement.type), AT.type, style);
  paper.write(movement.resourceId, AT.resource, { size: 7, color: INK.quiet });
  paper.write(grouped(movement.amountSantim), AT.amount, { ...style, isRight: true });
  paper.write(grouped(movement.balanceAfterSantim), AT.balance - 4, { ...style, isRight: true });
  ruleOff(paper);
}

function ruleOff(paper: PdfPage): void {
  paper.y += LINE_HEIGHT - 2;
  paper.rule();
  paper.y += 2;
}

const addisText = (instant: Date): string => clockText(inAddis(instant));

/** "Withdrawal reserved" */
function nameOf(type: string): string {
  return `${type.charAt(0)}${type.slice(1).toLowerCase().replaceAll('_', ' ')}`;
}
