import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import { fieldsOf, required } from '../../upstream-json/fields.ts';
import { addressHashOrNull, hashOrNull } from '../../upstream-json/values.ts';

type SearchRedirect = ExplorerSchemas['SearchRedirect'];

const NOWHERE = { redirect: false, type: null, parameter: null } as const;

/**
 * Where a search leads, of any generation. What is none of the three kinds, such as a blob, leads nowhere. Decision 30.
 * @throws Unreadable when an address, block or transaction is not named.
 */
export function searchRedirect(value: unknown): SearchRedirect {
  const record = fieldsOf(value);
  if (record.redirect !== true) return { ...NOWHERE };
  switch (record.type) {
    case 'address':
      return redirectTo('address', addressHashOrNull(record.parameter));
    case 'block':
    case 'transaction':
      return redirectTo(record.type, hashOrNull(record.parameter));
    default:
      return { ...NOWHERE };
  }
}

function redirectTo(type: SearchRedirect['type'], parameter: string | null): SearchRedirect {
  return { redirect: true, type, parameter: required(parameter, 'parameter') };
}
