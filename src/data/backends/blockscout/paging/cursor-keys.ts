import { isObject } from '#lib/json.ts';
import type { Fields } from '../../upstream-json/fields.ts';
import { integerOrNull } from '../../upstream-json/values.ts';

/* What lists of the same records have in common, whatever they are lists of. */

/** The document's keys that make a position, each set by itself. */
export const TOKEN_TRANSFER_SETS = [
  ['block_number', 'index'],
  ['batch_log_index', 'batch_block_hash', 'batch_transaction_hash', 'index_in_batch'],
] as const;
export const INTERNAL_TRANSACTION_SETS = [['block_number', 'transaction_index', 'index']] as const;
export const LOG_SETS = [['block_number', 'index']] as const;
export const WITHDRAWAL_SETS = [['index']] as const;
export const BLOCK_SETS = [['block_number']] as const;

/** `meta.status` of internal transactions since version 12 while some are still being indexed. */
const STILL_TRACED = 2;

/** Whether upstream says at all how far it is with a list of internal transactions; before version 12 it does not. */
export function tellsTracing({ meta }: Fields): boolean {
  return isObject(meta) && integerOrNull(meta.status) !== null;
}

/** Whether upstream says of a list of internal transactions that there may be more of them soon. */
export function isStillTraced({ meta }: Fields): boolean {
  return isObject(meta) && integerOrNull(meta.status) === STILL_TRACED;
}
