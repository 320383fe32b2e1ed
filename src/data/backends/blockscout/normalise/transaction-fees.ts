import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import { isObject } from '#lib/json.ts';
import { type Fields, pick } from '../../upstream-json/fields.ts';
import { naturalOrNull } from '../../upstream-json/values.ts';

type Transaction = ExplorerSchemas['Transaction'];
type Prices = Pick<
  Transaction,
  | 'transaction_burnt_fee'
  | 'max_fee_per_gas'
  | 'gas_price'
  | 'priority_fee'
  | 'base_fee_per_gas'
  | 'max_priority_fee_per_gas'
  | 'gas_used'
>;

/** What the sender pays, in wei; without a type, in a block is `actual`. */
export function feeOf(record: Fields, isMined: boolean): Transaction['fee'] {
  const fee = isObject(record.fee) ? record.fee : {};
  const type = fee.type === 'maximum' || fee.type === 'actual' ? fee.type : null;
  return { type: type ?? (isMined ? 'actual' : 'maximum'), value: naturalOrNull(fee.value) };
}

/** The prices of a transaction's gas and what they add up to, in wei. */
export function pricesOf(record: Fields): Prices {
  // Decision 24: types 0 and 1 name no tip.
  const isPlain = isLegacy(record.type);
  const gasPrice = naturalOrNull(record.gas_price);
  const baseFeePerGas = naturalOrNull(record.base_fee_per_gas);
  const gasUsed = naturalOrNull(record.gas_used);
  return {
    transaction_burnt_fee:
      naturalOrNull(pick(record, 'transaction_burnt_fee', 'tx_burnt_fee')) ??
      (isPlain ? burntFee(gasPrice, baseFeePerGas, gasUsed) : null),
    max_fee_per_gas: isPlain ? null : naturalOrNull(record.max_fee_per_gas),
    gas_price: gasPrice,
    priority_fee: isPlain ? null : naturalOrNull(record.priority_fee),
    base_fee_per_gas: baseFeePerGas,
    max_priority_fee_per_gas: isPlain ? null : naturalOrNull(record.max_priority_fee_per_gas),
    gas_used: gasUsed,
  };
}

function isLegacy(type: unknown): boolean {
  return type === 0 || type === 1 || type === '0' || type === '1';
}

/** Decision 24: upstream leaves it out of plain transactions. One below the base fee was let off it. */
function burntFee(gasPrice: string | null, baseFee: string | null, gasUsed: string | null): string | null {
  if (gasPrice === null || baseFee === null || gasUsed === null) return null;
  const baseFeePerGas = BigInt(baseFee);
  return BigInt(gasPrice) < baseFeePerGas ? null : (baseFeePerGas * BigInt(gasUsed)).toString();
}
