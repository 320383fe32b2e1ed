/** Stands in an address for the id of the session. Source: `success_url` of the contract. */
const PLACEHOLDER = '{SESSION_ID}';

/** A merchant's address as a payer is led to it; null stays null. */
export function redirectUrl(url: string | null, sessionId: string): string | null {
  return url === null ? null : url.replaceAll(PLACEHOLDER, sessionId);
}
