import { useState } from 'preact/hooks';
import { loadedSession } from './send.ts';

/** Typed values of a form, kept until they are sent or dropped. */
export interface KeptDraft<Value> {
  readonly value: Value;
  readonly change: (changes: Partial<Value>) => void;
  /** True when the form began with what was typed before the page was left. */
  readonly isRestored: boolean;
  /** Begins again with the given values. */
  readonly drop: () => void;
  /** Forgets the draft, after it was sent. */
  readonly forget: () => void;
}

/**
 * State of a form that survives leaving the page and the end of the session. It is kept in this window, for the
 * organization and mode and for the address of the page. Not for secrets.
 */
export function useKeptDraft<Value extends object>(form: string, initial: Value): KeptDraft<Value> {
  const key = `draft ${loadedSession()} ${location.pathname} ${form}`;
  const [found] = useState(() => keptAt(key, initial));
  const [value, setValue] = useState(found ?? initial);
  const [isRestored, setRestored] = useState(found !== undefined);
  const forget = () => sessionStorage.removeItem(key);
  return {
    value,
    isRestored,
    forget,
    change: changes =>
      setValue(before => {
        const after = { ...before, ...changes };
        keep(key, after);
        return after;
      }),
    drop: () => {
      forget();
      setValue(initial);
      setRestored(false);
    },
  };
}

function keep(key: string, value: object): void {
  try {
    sessionStorage.setItem(key, JSON.stringify(value));
  } catch {
    // A full storage loses the draft, not the form.
  }
}

/** The kept values, with those of the form for fields that the kept ones lack. Undefined for none that differ. */
function keptAt<Value extends object>(key: string, initial: Value): Value | undefined {
  const text = sessionStorage.getItem(key);
  if (text === null || text === JSON.stringify(initial)) return undefined;
  const kept: Partial<Value> = JSON.parse(text);
  return { ...initial, ...kept };
}
