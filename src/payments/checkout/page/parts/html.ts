const TEXT = Symbol('html');

/** Text that is HTML. Only `html` makes it, so whatever a page is made of was written here or escaped. */
export interface Html {
  readonly [TEXT]: string;
}

/** What may stand in a template: text is escaped, lists are joined, and nothing stands for `null` and `false`. */
export type Piece = Html | string | number | bigint | false | null | undefined | readonly Piece[];

/** Attributes whose value is followed: a foreign text in one must not be a program. */
const ADDRESS_BEFORE = /(?:^|\s)(?:href|src|action)="$/;
const FOLLOWED = /^(?:https?:\/\/|ethereum:|\/(?!\/)|#|\?)/i;
const OPEN_ATTRIBUTE = /=\s*$/;

/**
 * A template of HTML in which every piece is escaped, for text and for quoted attributes alike. An address with a
 * scheme that pages may not follow (`javascript:`) becomes `#`. Only the template's own text decides where a piece
 * stands: an inserted text may look like an attribute.
 * @throws TypeError for an attribute without quotes, in which escaping would not help.
 */
export function html(strings: TemplateStringsArray, ...pieces: readonly Piece[]): Html {
  if (strings.some(own => OPEN_ATTRIBUTE.test(own))) {
    throw new TypeError('An attribute of a template has no quotes.');
  }
  let text = strings[0] ?? '';
  for (const [index, piece] of pieces.entries()) {
    const isAddress = ADDRESS_BEFORE.test(strings[index] ?? '');
    text += isAddress ? escaped(followable(piece)) : written(piece);
    text += strings[index + 1] ?? '';
  }
  return { [TEXT]: text };
}

/** The document as it is sent. */
export function textOf(document: Html): string {
  return document[TEXT];
}

function written(piece: Piece): string {
  if (piece === null || piece === undefined || piece === false) return '';
  if (typeof piece === 'object') return TEXT in piece ? piece[TEXT] : piece.map(written).join('');
  return escaped(String(piece));
}

function followable(piece: Piece): string {
  return typeof piece === 'string' && FOLLOWED.test(piece) ? piece : '#';
}

function escaped(text: string): string {
  return text.replace(/[&<>"'`]/g, character => `&#${character.charCodeAt(0)};`);
}

/**
 * A merchant's address if a page may use it, which is https only, else null. The contract takes no other; this holds
 * for records that came another way, too.
 */
export function httpsOnly(url: string | null): string | null {
  return url !== null && /^https:\/\//i.test(url) ? url : null;
}
