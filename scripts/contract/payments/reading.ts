import type { Operation } from './operation.ts';
import type { Drive } from './tester.ts';

/** A GET as clients read it: HEAD says the same without a body, and who holds the answer gets none again. */
export async function tryReading(
  drive: Drive,
  operation: Operation,
  at: Readonly<Record<string, string>>,
): Promise<void> {
  const get = await drive.ask(operation, { at }, ['200']);
  const head = await drive.ask(operation, { at, method: 'HEAD' }, ['200']);
  if (head.headers['content-type'] !== get.headers['content-type']) {
    drive.report(`${operation.id}: HEAD has another Content-Type than GET`);
  }
  const held = { at, headers: { 'if-none-match': String(get.headers.etag) } };
  // It may have changed in between, and then has another tag.
  const again = await drive.ask(operation, held, ['304', '200']);
  if (again.status === 200 && again.headers.etag === get.headers.etag) {
    drive.report(`${operation.id}: who holds the answer gets it again`);
  }
  await drive.ask(operation, { at, query: 'undeclared=1' }, ['200']);
}
