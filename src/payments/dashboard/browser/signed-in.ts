import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { MEMBER_ROLES } from '#payments/browser/member-roles.ts';
import type { Payments, SignIn } from './api.ts';

const Signed = createContext<SignIn | undefined>(undefined);

/** Provides the sign-in to all parts of a page. */
export const SignInProvider = Signed.Provider;

/** Sign-in of the page. @throws Error outside the dashboard's pages */
export function useSignIn(): SignIn {
  const signIn = useContext(Signed);
  if (signIn === undefined) throw new Error('Nobody is signed in here.');
  return signIn;
}

/** True for an owner, who alone changes people and where money goes (Decision 413). */
export function useIsOwner(): boolean {
  return MEMBER_ROLES[useSignIn().member.role].isOwner;
}

/** True when the role of the member has a permission. Actions without permission are not shown. */
export function useHasPermission(permission: Payments['Permission']): boolean {
  return useSignIn().permissions.includes(permission);
}
