import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Payments, Session } from './api.ts';

const Signed = createContext<Session | undefined>(undefined);

/** Gives the session to all parts of a page. */
export const SessionProvider = Signed.Provider;

/** The session of the page. @throws Error outside of a page of the dashboard */
export function useSession(): Session {
  const session = useContext(Signed);
  if (session === undefined) throw new Error('There is no session here.');
  return session;
}

/** True when the key of the session may do what needs a permission. What it may not do is not offered. */
export function useMay(permission: Payments['Permission']): boolean {
  return useSession().permissions.includes(permission);
}
