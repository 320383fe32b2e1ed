/** Why the compiler's own checks panic. Source: Solidity documentation, "Panic via assert and Error via require". */
const PANICS: ReadonlyMap<bigint, string> = new Map([
  [0x00n, 'generic panic'],
  [0x01n, 'assertion failed'],
  [0x11n, 'arithmetic overflow or underflow'],
  [0x12n, 'division or modulo by zero'],
  [0x21n, 'value out of range of an enum'],
  [0x22n, 'wrongly encoded storage byte array'],
  [0x31n, 'pop from an empty array'],
  [0x32n, 'array index out of bounds'],
  [0x41n, 'out of memory'],
  [0x51n, 'call of a zero-initialised function'],
]);

/** A panic in words, such as `Panic(0x11): arithmetic overflow or underflow`. Decision 18. */
export function panicText(code: bigint): string {
  const hex = `0x${code.toString(16).padStart(2, '0')}`;
  return `Panic(${hex}): ${PANICS.get(code) ?? 'unknown panic'}`;
}
