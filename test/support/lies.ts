/** Values, as JSON, that a lying back end sends in place of any other. */
const LIES = [
  'null',
  'true',
  '[]',
  '{}',
  '[[[[{"hash":[]}]]]]',
  '""',
  '"\\u0000\\ud800"',
  JSON.stringify('a'.repeat(200_000)),
  '1e999',
  `-${'9'.repeat(400)}`,
  '0.1',
  '{"__proto__":{"hash":1},"constructor":null,"length":-1}',
] as const;

const MARK = '\u0000lie\u0000';

/** Numbers of the lies with which `damaged` starts. One replaces each value once, all together by every lie. */
export const FIRST_LIES = [...LIES.keys()];

/**
 * Bodies with one value replaced by a lie; of a list only the first item is changed. The n-th value is replaced by the
 * lie number `first` + n, so that all lies together replace every value by each.
 */
export function damaged(text: string, first: number): string[] {
  return [...withMark(JSON.parse(text))].map((marked, index) => {
    const lie = LIES[(first + index) % LIES.length] ?? 'null';
    return JSON.stringify(marked).replace(JSON.stringify(MARK), () => lie);
  });
}

/** Copies of a value in each of which one inner value is the mark: each field, list and record in turn. */
function* withMark(value: unknown): Generator<unknown> {
  yield MARK;
  if (Array.isArray(value)) {
    const [first, ...others] = value;
    if (first !== undefined) for (const changed of withMark(first)) yield [changed, ...others];
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, inner] of Object.entries(value))
      for (const changed of withMark(inner)) yield { ...value, [name]: changed };
  }
}
