/** The same text for equal expressions, and only for them. */
export function canonical(expression: object): string {
  return JSON.stringify(expression, (_, value) =>
    typeof value === 'bigint' ? { integer: `${value}` } : value,
  );
}
