const KEY = 'Idempotency-Key';
const FIRST_SERVER_ERROR = 500;
const CONFLICT = 409;

/** Idempotency keys of changes whose outcome is unknown, by method, address and body. */
const open = new Map<string, string>();

/**
 * Sends a request. One that repeats a change without a known outcome has the idempotency key of the first attempt, so
 * that the change happens once. A changed body, and a change after an answer, has the key that it came with.
 */
export async function sendOnce(request: Request): Promise<Response> {
  const own = request.headers.get(KEY);
  if (own === null) return fetch(request);
  const change = `${request.method} ${request.url} ${await request.clone().text()}`;
  const key = open.get(change) ?? own;
  open.set(change, key);
  request.headers.set(KEY, key);
  const response = await fetch(request);
  if (!(await isUnknown(response))) open.delete(change);
  return response;
}

/** Whether the change may have happened, or may still happen: its first attempt can be in progress. */
async function isUnknown(response: Response): Promise<boolean> {
  if (response.status >= FIRST_SERVER_ERROR) return true;
  return response.status === CONFLICT && (await response.clone().text()).includes('"idempotency_conflict"');
}
