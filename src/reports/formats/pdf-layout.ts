import { createRequire } from 'node:module';

/** A4, in points. */
const WIDTH = 595;
const HEIGHT = 842;
const MARGIN = 42;
export const LEFT = MARGIN;
export const RIGHT = WIDTH - MARGIN;
/** The last line ends above it; below stands the page's foot. */
const BOTTOM = HEIGHT - 50;

export const INK = { text: '#1a1a1a', quiet: '#6b7280', line: '#d1d5db', band: '#f3f4f6' } as const;

const SIZE = 8;
/** How far letters rise above the line they stand on, for each point of their size. */
const ASCENT = 0.72;

export type TextStyle = { size?: number; isBold?: boolean; color?: string; isRight?: boolean };

/** Pages that are written from their top to their bottom. */
export type PdfPage = {
  /** The top of the next line. */
  y: number;
  /** Begins a page, its header and its foot written by `onPage`. */
  turn: () => void;
  /** Whether it turned the page because less than this was left of it. */
  needs: (height: number) => boolean;
  /** In the current line from `x`, or up to it. */
  write: (text: string, x: number, style?: TextStyle) => void;
  /** The text in as many lines as it takes to be no wider. */
  inLines: (text: string, width: number, style?: TextStyle) => string[];
  rule: () => void;
  /** A shaded band of this height at the current line. */
  band: (height: number) => void;
};

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

/** Letters of one font: of those that every reader of PDF has, and that are ten times faster to write; Ethiopic; others. */
const RUNS =
  /([\u0020-\u007E\u00A0-\u00FF]+)|(\p{Script=Ethiopic}+)|[^\u0020-\u007E\u00A0-\u00FF\p{Script=Ethiopic}]+/gu;

function fontOf(isPlain: boolean, isEthiopic: boolean, isBold: boolean): string {
  if (isPlain) return isBold ? 'Helvetica-Bold' : 'Helvetica';
  return `${isEthiopic ? 'ethiopic' : 'other'}${isBold ? ' bold' : ''}`;
}

export function createPaper(document: PDFKit.PDFDocument, onPage: (paper: PdfPage, page: number) => void): PdfPage {
  for (const [name, file] of Object.entries(FONTS)) document.registerFont(name, file);
  let pages = 0;
  /** Each run of letters, after its font was chosen. */
  const eachRun = (
    text: string,
    { size = SIZE, isBold }: TextStyle,
    use: (run: string, width: number) => void,
  ): void => {
    document.fontSize(size);
    for (const [run, plain, ethiopic] of text.matchAll(RUNS)) {
      document.font(fontOf(plain !== undefined, ethiopic !== undefined, isBold === true));
      use(run, document.widthOfString(run));
    }
  };
  const widthOf = (text: string, style: TextStyle): number => {
    let sum = 0;
    eachRun(text, style, (_, width) => (sum += width));
    return sum;
  };
  const paper: PdfPage = {
    y: 0,
    turn: () => {
      document.addPage();
      pages += 1;
      paper.y = MARGIN;
      onPage(paper, pages);
    },
    needs: (height) => {
      if (paper.y + height <= BOTTOM) return false;
      paper.turn();
      return true;
    },
    write: (text, x, style = {}) => {
      let at = style.isRight ? x - widthOf(text, style) : x;
      // All fonts stand on one line; by their tops, each would hang at its own height.
      const baseline = paper.y + (style.size ?? SIZE) * ASCENT;
      document.fillColor(style.color ?? INK.text);
      eachRun(text, style, (run, width) => {
        document.text(run, at, baseline, { lineBreak: false, baseline: 'alphabetic' });
        at += width;
      });
    },
    inLines: (text, width, style = {}) => {
      const lines = [''];
      for (const letter of text.replaceAll(/\s+/gu, ' ')) {
        const longer = `${lines.at(-1)}${letter}`;
        if (widthOf(longer, style) > width) lines.push(letter);
        else lines[lines.length - 1] = longer;
      }
      return lines;
    },
    rule: () => void document.moveTo(LEFT, paper.y).lineTo(RIGHT, paper.y).lineWidth(0.5).stroke(INK.line),
    band: (height) => void document.rect(LEFT, paper.y, RIGHT - LEFT, height).fill(INK.band),
  };
  return paper;
}

/** Writes at another height, and comes back. */
export function at(paper: PdfPage, y: number, write: () => void): void {
  const before = paper.y;
  paper.y = y;
  write();
  paper.y = before;
}

/** Where a page's foot stands. */
export const FOOT_Y = HEIGHT - 36;
