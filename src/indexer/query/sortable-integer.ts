/**
 * Integers of any size as text that SQLite sorts by amount and holds equal when they are. An unsigned one of up to
 * 99 digits is what `uintColumn` makes of it, so columns need not be touched: two digits that say how many follow, then
 * the digits. A longer one has a colon and five digits for its length, which sorts behind. A negative one is `-` and
 * the text of its amount with every character turned around, so that larger amounts come first.
 */
export function sortable(value: bigint): string {
  return value < 0n ? `-${turned(amountText((-value).toString()))}` : amountText(value.toString());
}

/** The integer behind `sortable` or `uintColumn`. */
export function integerOf(text: string): bigint {
  const first = text.charCodeAt(0);
  if (first === MINUS) return -integerOf(turned(text.slice(1)));
  return BigInt(text.slice(first === COLON ? LONG_PREFIX : 2));
}

const MINUS = 45;
const COLON = 58;
const LONG_PREFIX = 6;

function amountText(digits: string): string {
  if (digits.length > 99) return `:${String(digits.length).padStart(LONG_PREFIX - 1, '0')}${digits}`;
  return digits.length < 10 ? `0${digits.length}${digits}` : `${digits.length}${digits}`;
}

/** Its own inverse. `!` sorts before the digits as the colon does behind them. */
function turned(text: string): string {
  let result = '';
  for (const character of text) {
    result += character === ':' ? '!' : character === '!' ? ':' : String(9 - Number(character));
  }
  return result;
}
