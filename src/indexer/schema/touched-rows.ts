import type { Dialect } from '../../db/dialect.ts';
import { ZERO_ADDRESS } from '../../evm/address.ts';
import { DIRTY_KINDS } from './stale-state.ts';

/** Conditions that choose blocks, for tables whose rows have an `id` and for `blocks`. */
interface ChosenBlocks {
  readonly ofRows: string;
  readonly ofBlocks: string;
}

const { coin, token, balance, instance } = DIRTY_KINDS;

/**
 * Queries of the state that blocks of the index have touched, the same that the block writer marks as dirty. Columns:
 * `kind`, `address`, `holder` and `token_id`.
 */
export function touchedRows({ bytesLiteral }: Dialect, { ofRows, ofBlocks }: ChosenBlocks): string[] {
  const none = bytesLiteral('0x');
  const zero = bytesLiteral(ZERO_ADDRESS);
  const coins = (column: string, table: string, condition = ofRows) =>
    `select distinct ${coin} as kind, ${column} as address, ${none} as holder, '' as token_id from ${table}
      where ${condition} and ${column} is not null`;
  const balances = (column: string) =>
    `select distinct ${balance} as kind, token as address, ${column} as holder,
        case when token_type = 3 then token_id else '' end as token_id
      from token_transfers where ${ofRows} and ${column} <> ${zero}`;
  return [
    coins('miner', 'blocks', ofBlocks),
    coins('from_address', 'transactions'),
    coins('to_address', 'transactions'),
    coins('created_contract', 'transactions'),
    coins('address', 'logs'),
    coins('from_address', 'internal_transactions'),
    coins('to_address', 'internal_transactions'),
    coins('created_contract', 'internal_transactions'),
    coins('from_address', 'token_transfers'),
    coins('to_address', 'token_transfers'),
    coins('address', 'withdrawals'),
    balances('from_address'),
    balances('to_address'),
    `select distinct ${token} as kind, token as address, ${none} as holder, '' as token_id from token_transfers
      where ${ofRows} and (from_address = ${zero} or to_address = ${zero})`,
    `select distinct ${instance} as kind, token as address, ${none} as holder, token_id from token_transfers
      where ${ofRows} and token_type = 2`,
  ];
}
