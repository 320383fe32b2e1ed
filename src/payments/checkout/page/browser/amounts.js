const TYPED = /^(\d*)(?:[.,](\d*))?$/;

/** Smallest units in tokens, exactly: 12500000n at 6 decimals is `12.5`. */
export function inTokens(units, decimals) {
  const digits = units.toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

/** The smallest units of an amount typed in tokens; undefined for what is none or has too many decimals. */
export function inUnits(text, decimals) {
  const [, whole = '', fraction = ''] = TYPED.exec(text.trim()) ?? [];
  const digits = fraction.replace(/0+$/, '');
  if ((whole === '' && fraction === '') || digits.length > decimals) return undefined;
  return BigInt(`${whole}${digits.padEnd(decimals, '0')}`);
}
