const KEY = 'Idempotency-Key';
const FIRST_SERVER_ERROR = 500;
const CONFLICT = 409;

/** Idempotency keys of changes with an unknown outcome, by method, URL and body. */
const open = new Map<string, string>();

/**
 * Sends a request. A repeated change with an unknown outcome uses the idempotency key of its first attempt, so that it
 * happens once. A different body, or a change after an answer, keeps its own key.
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

/** True when the change may have happened or may still happen, for example while its first attempt is in progress. */
async function isUnknown(response: Response): Promise<boolean> {
  if (response.status >= FIRST_SERVER_ERROR) return true;
  return response.status === CONFLICT && (await response.clone().text()).includes('"idempotency_conflict"');
}
