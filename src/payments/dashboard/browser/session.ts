import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Payments, Session } from './api.ts';

const Signed = createContext<Session | undefined>(undefined);

/** Provides the session to all parts of a page. */
export const SessionProvider = Signed.Provider;

/** Session of the page. @throws Error outside the dashboard's pages */
export function useSession(): Session {
  const session = useContext(Signed);
  if (session === undefined) throw new Error('There is no session here.');
  return session;
}

/** True when the session's key has a permission. Actions without permission are not shown. */
export function useHasPermission(permission: Payments['Permission']): boolean {
  return useSession().permissions.includes(permission);
}
