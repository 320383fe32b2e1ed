import type { Answer } from './answer.ts';
import { Problem } from './problem.ts';

/** Said when a form is sent as it was opened. */
export const NOTHING_CHANGED = 'There was nothing to change.';

const PRECONDITION_FAILED = 412;
/** A record with counters may change between reading and writing although it is not edited. */
const ATTEMPTS = 5;

/** Values of a record, with the entity tag of the record. */
interface RecordVersion<Body extends object> {
  readonly values: Body;
  readonly etag: string;
}

interface FormEditorOptions<Body extends object> {
  /** Values when the form was opened. */
  readonly opened: Body;
  /** Reads what the server has now. */
  readonly read: () => Promise<RecordVersion<Body>>;
  /** Sends the changed fields, with the tag as `If-Match`. @throws Problem with status 412 when the record differs */
  readonly write: (changes: Partial<Body>, etag: string) => Promise<unknown>;
}

/**
 * Saves what was changed in a form, and nothing else. Two people who edit one record thus keep each other's changes, and
 * one who would replace the other's is asked first.
 */
export interface FormEditor<Body extends object> {
  /** Resolves to false when nothing was changed. @throws Problem with the field that was changed meanwhile */
  save(typed: Body): Promise<boolean>;
}

export function formEditor<Body extends object>({
  opened,
  read,
  write,
}: FormEditorOptions<Body>): FormEditor<Body> {
  /** Values that the person at the form knows of. */
  let known = opened;
  return {
    async save(typed) {
      const changes = changesOf(known, typed);
      const names = Object.keys(changes);
      if (names.length === 0) return false;
      for (let attempt = 1; ; attempt++) {
        const { values, etag } = await read();
        const overtaken = Object.entries(changesOf(known, values)).find(([name]) => names.includes(name));
        if (overtaken !== undefined) {
          const [name, value] = overtaken;
          known = { ...known, [name]: value };
          throw new Problem(`This was changed meanwhile, to ${shown(value)}. Save again to replace it.`, {
            param: name,
          });
        }
        if (await isWritten(write(changes, etag), attempt < ATTEMPTS)) break;
      }
      known = { ...known, ...changes };
      return true;
    },
  };
}

/** Returns false when the record was changed in between and may be read again. @throws Problem */
async function isWritten(writing: Promise<unknown>, mayRepeat: boolean): Promise<boolean> {
  try {
    await writing;
    return true;
  } catch (reason) {
    if (mayRepeat && reason instanceof Problem && reason.status === PRECONDITION_FAILED) return false;
    throw reason;
  }
}

/** Values and version of an answer. */
export function versionOf<Data, Body extends object>(
  { data, headers }: Answer<Data>,
  valuesOf: (data: Data) => Body,
): RecordVersion<Body> {
  return { values: valuesOf(data), etag: headers.get('ETag') ?? '*' };
}

/** Fields of `after` that differ from those of `before`. */
function changesOf<Body extends object>(before: Body, after: Body): Partial<Body> {
  const changes: Partial<Body> = { ...after };
  for (const name in changes) {
    if (JSON.stringify(after[name]) === JSON.stringify(before[name])) delete changes[name];
  }
  return changes;
}

const SHOWN_CHARACTERS = 80;

function shown(value: unknown): string {
  if (value === null || value === '') return 'nothing';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return `“${text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text}”`;
}
