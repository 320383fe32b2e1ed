/** Line width of generated JSON files, as for code. */
const WIDTH = 110;

/** Formats JSON with objects and lists on one line where they fit, so that documents stay readable. */
export function printedJson(value: unknown): string {
  return `${printed(value, '')}\n`;
}

function printed(value: unknown, indent: string): string {
  const line = JSON.stringify(value, null, 1).replaceAll(/\n\s*/g, ' ');
  if (typeof value !== 'object' || value === null || indent.length + line.length <= WIDTH) return line;
  const inner = `${indent}  `;
  const members = Array.isArray(value)
    ? value.map(member => printed(member, inner))
    : Object.entries(value).map(([key, member]) => `${JSON.stringify(key)}: ${printed(member, inner)}`);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  return `${open}\n${inner}${members.join(`,\n${inner}`)}\n${indent}${close}`;
}
