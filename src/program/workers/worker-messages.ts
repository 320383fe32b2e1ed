import { isPlainObject } from '#lib/json.ts';

/** Subject of a parent's question to a worker. */
export type Subject = 'metrics' | 'checks' | 'status';

/** Message from the parent to a worker. */
export type ParentMessage =
  | { readonly tollgate: 'question'; readonly id: number; readonly subject: Subject }
  /** It is no longer ready, and `stop` follows soon. */
  | { readonly tollgate: 'leave' }
  | { readonly tollgate: 'stop' };

/** Message from a worker to the parent. */
export type WorkerMessage =
  /** Its services are open. */
  | { readonly tollgate: 'opened' }
  /** It accepts requests. The words and fields are for the log. */
  | { readonly tollgate: 'ready'; readonly words: string; readonly fields: object }
  | { readonly tollgate: 'answer'; readonly id: number; readonly answer: unknown };

/** Reads a message of the parent; undefined for messages of Node and of libraries. */
export function parentMessage(message: unknown): ParentMessage | undefined {
  if (!isPlainObject(message)) return undefined;
  const { tollgate, id, subject } = message;
  if (tollgate === 'stop' || tollgate === 'leave') return { tollgate };
  const isQuestion = tollgate === 'question' && typeof id === 'number' && isSubject(subject);
  return isQuestion ? { tollgate, id, subject } : undefined;
}

/** Reads a message of a worker; undefined for messages of Node and of libraries. */
export function workerMessage(message: unknown): WorkerMessage | undefined {
  if (!isPlainObject(message)) return undefined;
  const { tollgate, id, answer, words, fields } = message;
  if (tollgate === 'opened') return { tollgate };
  if (tollgate === 'answer' && typeof id === 'number') return { tollgate, id, answer };
  if (tollgate !== 'ready' || typeof words !== 'string' || !isPlainObject(fields)) return undefined;
  return { tollgate, words, fields };
}

function isSubject(value: unknown): value is Subject {
  return value === 'metrics' || value === 'checks' || value === 'status';
}
