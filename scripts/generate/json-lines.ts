/** Writes JSON of which the members of the outer `levels` levels have a line each, so that a change shows its place. */
export function jsonLines(value: unknown, levels: number): string {
  return `${linesOf(value, levels)}\n`;
}

function linesOf(value: unknown, levels: number): string {
  if (levels === 0 || typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Array.isArray(value)
    ? value.map(member => linesOf(member, levels - 1))
    : Object.entries(value).map(([key, member]) => `${JSON.stringify(key)}:${linesOf(member, levels - 1)}`);
  if (members.length === 0) return JSON.stringify(value);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  return `${open}\n${members.join(',\n')}\n${close}`;
}
