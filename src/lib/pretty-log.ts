const LEVELS: Readonly<Record<number, string>> = {
  10: 'TRACE',
  20: 'DEBUG',
  30: 'INFO ',
  40: 'WARN ',
  50: 'ERROR',
  60: 'FATAL',
};

/** One JSON log entry as a line for people: time, level, message, the other fields, and an error's stack below. */
export function textLine(json: string): string {
  const entry: unknown = JSON.parse(json);
  if (typeof entry !== 'object' || entry === null) return json;
  const { time, level, msg, err, ...fields }: Record<string, unknown> = { ...entry };
  const stack = typeof err === 'object' && err !== null && 'stack' in err ? `\n    ${String(err.stack)}` : '';
  const rest = Object.entries(fields).map(([name, value]) => `${name}=${shown(value)}`);
  const words = [
    String(time),
    LEVELS[Number(level)] ?? String(level),
    ...(msg === undefined ? [] : [String(msg)]),
    ...rest,
  ];
  return `${words.join(' ')}${stack}\n`;
}

/** JSON keeps a value with line breaks or spaces on one line and in one piece. */
function shown(value: unknown): string {
  return typeof value === 'string' && /^[\w.:/-]+$/.test(value) ? value : JSON.stringify(value);
}
