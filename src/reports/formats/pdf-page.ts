import { createRequire } from 'node:module';

import { toBirr, type Santim } from '../../lib/money.ts';

/** A4, in points. */
const WIDTH = 595;
const HEIGHT = 842;
const MARGIN = 42;
export const LEFT = MARGIN;
export const RIGHT = WIDTH - MARGIN;
/** Lines end above it; the footer is below. */
const BOTTOM = HEIGHT - 50;
const FOOTER_Y = HEIGHT - 36;

export const INK = { text: '#1a1a1a', quiet: '#6b7280', line: '#d1d5db', band: '#f3f4f6' } as const;

export const LINE_HEIGHT = 13;
const SIZE = 8;
/** The height of letters above their baseline, for each point of their size. */
const ASCENT = 0.72;

export type TextStyle = { size?: number; isBold?: boolean; color?: string; isRight?: boolean };

const require = createRequire(import.meta.url);
const font = (file: string): string =>
  require.resolve(`@fontsource/noto-sans-ethiopic/files/noto-sans-ethiopic-${file}-normal.woff`);
/** For letters that PDF's own fonts lack. Under the SIL Open Font License. */
const FONTS = {
  other: font('latin-400'),
  'other bold': font('latin-700'),
  ethiopic: font('ethiopic-400'),
  'ethiopic bold': font('ethiopic-700'),
} as const;

/** Letters of one font: Helvetica, which every reader has and is written ten times faster; Ethiopic; others. */
const RUNS =
  /([\u0020-\u007E\u00A0-\u00FF]+)|(\p{Script=Ethiopic}+)|[^\u0020-\u007E\u00A0-\u00FF\p{Script=Ethiopic}]+/gu;

const AMOUNT = new Intl.NumberFormat('en', { minimumFractionDigits: 2 });

/** "-1,250.50" */
export function amountText(santim: Santim): string {
  return AMOUNT.format(toBirr(santim));
}

/** "Withdrawal reserved" */
export function typeText(type: string): string {
  return `${type.charAt(0)}${type.slice(1).toLowerCase().replaceAll('_', ' ')}`;
}

type Run = { text: string; font: string; width: number };

function runsOf(document: PDFKit.PDFDocument, text: string, { size = SIZE, isBold = false }: TextStyle): Run[] {
  document.fontSize(size);
  return [...text.matchAll(RUNS)].map(([run, plain, ethiopic]) => {
    const other = `${ethiopic === undefined ? 'other' : 'ethiopic'}${isBold ? ' bold' : ''}`;
    const name = plain === undefined ? other : isBold ? 'Helvetica-Bold' : 'Helvetica';
    return { text: run, font: name, width: document.font(name).widthOfString(run) };
  });
}

const widthOf = (runs: Run[]): number => runs.reduce((sum, { width }) => sum + width, 0);

/** The current page of a document that is written from top to bottom. */
export type PdfPage = ReturnType<typeof createPages>;

/** The pages of a document, each with a header and a footer; the first one starts with `turn`. */
export function createPages(
  document: PDFKit.PDFDocument,
  { header, footer }: { header: () => void; footer: (number: number) => void },
) {
  for (const [name, file] of Object.entries(FONTS)) document.registerFont(name, file);
  let number = 0;
  const page = {
    /** The top of the next line. */
    y: 0,
    turn: (): void => {
      document.addPage();
      number += 1;
      page.y = FOOTER_Y;
      footer(number);
      page.y = MARGIN;
      header();
    },
    /** Starts a new page when less than this height is left, and returns whether it did. */
    needs: (height: number): boolean => {
      if (page.y + height <= BOTTOM) return false;
      page.turn();
      return true;
    },
    /** Writes in the current line: from `x`, or up to `x` when right-aligned. */
    write: (text: string, x: number, style: TextStyle = {}): void => {
      const runs = runsOf(document, text, style);
      let left = style.isRight ? x - widthOf(runs) : x;
      // The fonts share one baseline; placed by their tops, each would be at a different height.
      const baseline = page.y + (style.size ?? SIZE) * ASCENT;
      document.fillColor(style.color ?? INK.text);
      for (const run of runs) {
        document.font(run.font).text(run.text, left, baseline, { lineBreak: false, baseline: 'alphabetic' });
        left += run.width;
      }
    },
    wrap: (text: string, width: number): string[] => {
      if (widthOf(runsOf(document, text, {})) <= width) return [text];
      const lines = [''];
      for (const letter of text.replaceAll(/\s+/gu, ' ')) {
        const longer = `${lines.at(-1)}${letter}`;
        if (widthOf(runsOf(document, longer, {})) > width) lines.push(letter);
        else lines[lines.length - 1] = longer;
      }
      return lines;
    },
    rule: (): void => void document.moveTo(LEFT, page.y).lineTo(RIGHT, page.y).lineWidth(0.5).stroke(INK.line),
    /** Ends a line of a table. */
    endLine: (): void => {
      page.y += LINE_HEIGHT - 2;
      page.rule();
      page.y += 2;
    },
    /** A shaded band of this height at the current line. */
    band: (height: number): void => void document.rect(LEFT, page.y, RIGHT - LEFT, height).fill(INK.band),
  };
  return page;
}
