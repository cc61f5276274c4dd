/** Text that is markup. Only {@link html} and {@link markup} create it, so no unescaped text gets in by accident. */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Piece = string | number | Html | null | readonly Piece[];

/** Markup with every value escaped, except other markup; null is empty. */
export function html(literals: TemplateStringsArray, ...pieces: Piece[]): Html {
  return new Html(literals.map((literal, index) => literal + escapePiece(pieces[index] ?? null)).join(''));
}

/** Own markup, unescaped: styles and images of this project, never input. */
export function markup(text: string): Html {
  return new Html(text);
}

function escapePiece(piece: Piece): string {
  if (piece === null) return '';
  if (piece instanceof Html) return piece.text;
  if (typeof piece === 'object') return piece.map(escapePiece).join('');
  return String(piece).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
