import { Problem } from './problem.ts';

/** Said when a form is sent as it was opened. */
export const NOTHING_CHANGED = 'There was nothing to change.';

interface FormEditorOptions<Body extends object> {
  /** Values when the form was opened. */
  readonly opened: Body;
  /** Reads the values that the server has now. */
  readonly read: () => Promise<Body>;
  /** Sends the changed fields. */
  readonly write: (changes: Partial<Body>) => Promise<unknown>;
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
      const current = await read();
      const overtaken = Object.entries(changesOf(known, current)).find(([name]) => names.includes(name));
      if (overtaken !== undefined) {
        const [name, value] = overtaken;
        known = { ...known, [name]: value };
        throw new Problem(`This was changed meanwhile, to ${shown(value)}. Save again to replace it.`, {
          param: name,
        });
      }
      await write(changes);
      known = { ...known, ...changes };
      return true;
    },
  };
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
