const TEXT_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;
const LONG_INTEGER = /^-?\d{16,}$/;

/**
 * Converts integers of 16 or more digits in JSON text to strings, because a JavaScript number cannot hold all of them
 * exactly.
 */
export function withExactIntegers(json: string): string {
  return json.replace(TEXT_OR_NUMBER, found => (LONG_INTEGER.test(found) ? `"${found}"` : found));
}

/**
 * `fetch` with exact integers of any size in JSON answers. Long ones arrive as text, in accordance with the contract's
 * `bigint`.
 */
export async function exactFetch(request: Request): Promise<Response> {
  const response = await fetch(request);
  if (!response.ok || !response.headers.get('Content-Type')?.includes('json')) return response;
  return new Response(withExactIntegers(await response.text()), {
    status: response.status,
    headers: response.headers,
  });
}
