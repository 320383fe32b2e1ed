/**
 * A merchant's address if a page may use it, which is https only, else null. The contract takes no other; this holds
 * for records that came another way, too.
 */
export function httpsOnly(url: string | null): string | null {
  return url !== null && /^https:\/\//i.test(url) ? url : null;
}
