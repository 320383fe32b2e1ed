import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import { fieldsOf, required } from '../../upstream-json/fields.ts';
import { naturalOrNull, textOrNull } from '../../upstream-json/values.ts';
import { tokenInstance } from './token-instance.ts';

/**
 * One NFT of an address, of any generation: an instance, how many of it and its standard, which the token names too.
 * @throws Unreadable without an id or a standard.
 */
export function addressNft(value: unknown): ExplorerSchemas['AddressNft'] {
  const record = fieldsOf(value);
  const instance = tokenInstance(record);
  return {
    token_type: required(textOrNull(record.token_type) ?? instance.token?.type ?? null, 'token_type'),
    value: naturalOrNull(record.value),
    ...instance,
  };
}
