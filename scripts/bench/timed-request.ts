/** Milliseconds until the last byte of an uncompressed answer. @throws Error when it is not a 200 */
export async function timedRequest(url: string): Promise<number> {
  const startedAt = performance.now();
  const answer = await fetch(url, { headers: { 'accept-encoding': 'identity' } });
  const body = await answer.bytes();
  const ms = performance.now() - startedAt;
  if (answer.status !== 200)
    throw new Error(`${url} answered ${answer.status}: ${new TextDecoder().decode(body)}`);
  return ms;
}
