import { isObject } from '../../lib/json.ts';

/** A first page without items: of an address that this chain does not know, or of a search in vain. */
export function isEmptyPage(body: unknown): boolean {
  return isObject(body) && Array.isArray(body.items) && body.items.length === 0;
}

/** The search redirect of a search that leads nowhere on this chain. Decision 30. */
export function leadsNowhere(body: unknown): boolean {
  return isObject(body) && body.redirect === false;
}
