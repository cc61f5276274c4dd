/** Text that is markup already. Only {@link html} and {@link markup} make it, so nothing unescaped gets in by accident. */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Piece = string | number | Html | null | readonly Piece[];

/** Markup with every value in it escaped, but for other markup; null is nothing. */
export function html(literals: TemplateStringsArray, ...pieces: Piece[]): Html {
  return new Html(literals.map((literal, index) => literal + escapePiece(pieces[index] ?? null)).join(''));
}

/** Our own markup as it is: styles and pictures we made, never what came from outside. */
export function markup(text: string): Html {
  return new Html(text);
}

function escapePiece(piece: Piece): string {
  if (piece === null) return '';
  if (piece instanceof Html) return piece.text;
  if (typeof piece === 'object') return piece.map(escapePiece).join('');
  return String(piece).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
