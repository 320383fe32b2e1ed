const KEY = 'has session';

/** Remembers in this browser whether it has a session, because no script reads the cookie. */
export function rememberSession(isOpen: boolean): void {
  if (isOpen) localStorage.setItem(KEY, 'yes');
  else localStorage.removeItem(KEY);
}

/** False when this browser has no session. Asking the server then would count as a failed sign-in. */
export function mayHaveSession(): boolean {
  return localStorage.getItem(KEY) !== null;
}
