const TEXT_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;
const LONG_INTEGER = /^-?\d{16,}$/;

/** JSON text whose integers of 16 and more digits are strings: a JavaScript number does not hold all of them exactly. */
export function withExactIntegers(json: string): string {
  return json.replace(TEXT_OR_NUMBER, found => (LONG_INTEGER.test(found) ? `"${found}"` : found));
}

/** `fetch` whose JSON answers keep integers of any size, as the contract's `bigint` promises: as text where they are long. */
export async function exactFetch(request: Request): Promise<Response> {
  const response = await fetch(request);
  if (!response.ok || !response.headers.get('Content-Type')?.includes('json')) return response;
  return new Response(withExactIntegers(await response.text()), {
    status: response.status,
    headers: response.headers,
  });
}
