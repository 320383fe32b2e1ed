/**
 * A decoded value as text: a leaf as it is written, arrays and tuples as compact JSON text whose leaves are text. Null
 * where upstream failed to write the value. Decision 19.
 */
export function decodedTextOrNull(value: unknown): string | null {
  if (typeof value === 'string') return value;
  if (value === null || value === undefined) return null;
  return typeof value === 'object' ? JSON.stringify(value, withTextLeaves) : String(value);
}

function withTextLeaves(_key: string, part: unknown): unknown {
  return typeof part === 'object' ? part : String(part);
}
