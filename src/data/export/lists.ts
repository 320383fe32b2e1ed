import type { DataServiceOperations } from '#contract/contracts/data-service.ts';
import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import type { OperationRequest } from '#contract/contracts/operations.ts';
import {
  amountColumns,
  type Column,
  coins,
  type ExportedRecords,
  exportedRecords,
  plain,
  text,
} from './records.ts';

/** Operation of a list that can be exported. */
export type ExportedList = OperationRequest<DataServiceOperations['exportList']>['path']['list'];

interface ListExport {
  /** Beginning of the file's name. */
  readonly file: string;
  readonly records: ExportedRecords;
  /** True when the decimals of the amounts are those of the token at `address_hash`. */
  readonly isOfToken?: true;
}

type Schemas = ExplorerSchemas;
type Party = { readonly hash: string } | null;

const hashOf = (party: Party) => party?.hash;

const transactions = exportedRecords<Schemas['Transaction']>(
  [
    plain('transaction_hash', ({ hash }) => hash),
    plain('block_number', ({ block_number }) => block_number),
    plain('position', ({ position }) => position),
    plain('timestamp', ({ timestamp }) => timestamp),
    plain('status', ({ status }) => status),
    text('result', ({ result }) => result),
    text('method', ({ method }) => method),
    plain('nonce', ({ nonce }) => nonce),
    plain('from', ({ from }) => from.hash),
    plain('to', ({ to }) => hashOf(to)),
    plain('created_contract', ({ created_contract }) => hashOf(created_contract)),
    coins('value', ({ value }) => value),
    coins('fee', ({ fee }) => fee.value),
    plain('fee_type', ({ fee }) => fee.type),
    plain('gas_limit', ({ gas_limit }) => gas_limit),
    plain('gas_used', ({ gas_used }) => gas_used),
    plain('gas_price_raw', ({ gas_price }) => gas_price),
    text('revert_reason', ({ revert_reason }) => revert_reason),
  ],
  ({ timestamp }) => timestamp,
);

const blocks = exportedRecords<Schemas['Block']>(
  [
    plain('block_number', ({ height }) => height),
    plain('block_hash', ({ hash }) => hash),
    plain('timestamp', ({ timestamp }) => timestamp),
    plain('type', ({ type }) => type),
    plain('miner', ({ miner }) => miner.hash),
    plain('transaction_count', ({ transaction_count }) => transaction_count),
    plain('gas_used', ({ gas_used }) => gas_used),
    plain('gas_limit', ({ gas_limit }) => gas_limit),
    plain('base_fee_per_gas_raw', ({ base_fee_per_gas }) => base_fee_per_gas),
    coins('transaction_fees', ({ transaction_fees }) => transaction_fees),
    coins('burnt_fees', ({ burnt_fees }) => burnt_fees),
    plain('size', ({ size }) => size),
  ],
  ({ timestamp }) => timestamp,
);

type Token = Pick<Schemas['Token'], 'address' | 'symbol' | 'name' | 'decimals' | 'type'>;

/** The token of a record. */
function token<Item>(of: (item: Item) => Token | null): readonly Column<Item>[] {
  return [
    plain('token_address', item => of(item)?.address),
    text('token_symbol', item => of(item)?.symbol),
    text('token_name', item => of(item)?.name),
    plain('token_type', item => of(item)?.type),
    plain('token_decimals', item => of(item)?.decimals),
  ];
}

type Transfer = Schemas['TokenTransfer'];

const transfers = exportedRecords<Transfer>(
  [
    plain('transaction_hash', ({ transaction_hash }) => transaction_hash),
    plain('log_index', ({ log_index }) => log_index),
    plain('block_number', ({ block_number }) => block_number),
    plain('timestamp', ({ timestamp }) => timestamp),
    plain('type', ({ type }) => type),
    text('method', ({ method }) => method),
    plain('from', ({ from }) => from.hash),
    plain('to', ({ to }) => to.hash),
    amountColumns('amount', transferredUnits, transferDecimals),
    plain('token_id', ({ total }) => (total !== null && 'token_id' in total ? total.token_id : null)),
    ...token<Transfer>(transfer => transfer.token),
  ],
  ({ timestamp }) => timestamp,
);

/** An ERC-721 transfer has no value, because it always moves one. */
function transferredUnits({ total }: Transfer): string | null {
  if (total === null) return null;
  return 'value' in total ? total.value : '1';
}

function transferDecimals({ total, token: own }: Transfer): string | null | undefined {
  if (total !== null && !('value' in total)) return '0';
  return (total !== null && 'decimals' in total ? total.decimals : null) ?? own?.decimals;
}

const internalTransactions = exportedRecords<Schemas['InternalTransaction']>(
  [
    plain('transaction_hash', ({ transaction_hash }) => transaction_hash),
    plain('index', ({ index }) => index),
    plain('block_number', ({ block_number }) => block_number),
    plain('timestamp', ({ timestamp }) => timestamp),
    plain('type', ({ type }) => type),
    plain('success', ({ success }) => success),
    text('error', ({ error }) => error),
    plain('from', ({ from }) => from.hash),
    plain('to', ({ to }) => hashOf(to)),
    plain('created_contract', ({ created_contract }) => hashOf(created_contract)),
    coins('value', ({ value }) => value),
    plain('gas_limit', ({ gas_limit }) => gas_limit),
  ],
  ({ timestamp }) => timestamp,
);

const logs = exportedRecords<Schemas['Log']>([
  plain('transaction_hash', ({ transaction_hash }) => transaction_hash),
  plain('index', ({ index }) => index),
  plain('block_number', ({ block_number }) => block_number),
  plain('address', ({ address }) => address.hash),
  text('event', ({ decoded }) => decoded?.method_call),
  ...[0, 1, 2, 3].map(at => plain<Schemas['Log']>(`topic_${at}`, ({ topics }) => topics[at])),
  plain('data', ({ data }) => data),
]);

const tokens = exportedRecords<Schemas['Token']>([
  ...token<Schemas['Token']>(item => item),
  amountColumns(
    'total_supply',
    ({ total_supply }) => total_supply,
    ({ decimals }) => decimals,
  ),
  plain('holders', ({ holders }) => holders),
  plain('exchange_rate', ({ exchange_rate }) => exchange_rate),
  plain('circulating_market_cap', ({ circulating_market_cap }) => circulating_market_cap),
]);

const addressTokens = exportedRecords<Schemas['AddressToken']>([
  ...token<Schemas['AddressToken']>(item => item.token),
  plain('token_id', ({ token_id }) => token_id),
  amountColumns(
    'balance',
    ({ value }) => value,
    ({ token: own }) => own?.decimals,
  ),
  plain('exchange_rate', ({ token: own }) => own?.exchange_rate),
]);

const nfts = exportedRecords<Schemas['AddressNft']>([
  ...token<Schemas['AddressNft']>(item => item.token),
  plain('token_id', ({ id }) => id),
  plain('balance_raw', ({ value }) => value),
]);

const instances = exportedRecords<Schemas['TokenInstance']>([
  ...token<Schemas['TokenInstance']>(item => item.token),
  plain('token_id', ({ id }) => id),
  plain('owner', ({ owner }) => hashOf(owner)),
]);

const holders = exportedRecords<Schemas['TokenHolder']>([
  plain('address', ({ address }) => address.hash),
  text('name', ({ address }) => address.ens_domain_name ?? address.name),
  plain('is_contract', ({ address }) => address.is_contract),
  plain('token_id', ({ token_id }) => token_id),
  amountColumns(
    'balance',
    ({ value }) => value,
    (_, { tokenDecimals }) => tokenDecimals,
  ),
]);

const addresses = exportedRecords<Schemas['CoinHolder']>([
  plain('address', ({ hash }) => hash),
  text('name', ({ ens_domain_name, name }) => ens_domain_name ?? name),
  plain('is_contract', ({ is_contract }) => is_contract),
  coins('balance', ({ coin_balance }) => coin_balance),
  plain('transaction_count', ({ transaction_count }) => transaction_count),
]);

const contracts = exportedRecords<Schemas['SmartContractItem']>([
  plain('address', ({ address }) => address.hash),
  text('name', ({ address }) => address.name),
  plain('language', ({ language }) => language),
  text('compiler_version', ({ compiler_version }) => compiler_version),
  plain('optimization_enabled', ({ optimization_enabled }) => optimization_enabled),
  text('license_type', ({ license_type }) => license_type),
  plain('verified_at', ({ verified_at }) => verified_at),
  coins('balance', ({ coin_balance }) => coin_balance),
  plain('transaction_count', ({ transactions_count }) => transactions_count),
]);

const coinBalances = exportedRecords<Schemas['CoinBalance']>(
  [
    plain('block_number', ({ block_number }) => block_number),
    plain('timestamp', ({ block_timestamp }) => block_timestamp),
    plain('transaction_hash', ({ transaction_hash }) => transaction_hash),
    coins('balance', ({ value }) => value),
    coins('change', ({ delta }) => delta),
  ],
  ({ block_timestamp }) => block_timestamp,
);

type BlockWithdrawal = Schemas['BlockWithdrawal'];
type AddressWithdrawal = Schemas['AddressWithdrawal'];

const withdrawalStart = [
  plain<AddressWithdrawal | BlockWithdrawal>('index', ({ index }) => index),
  plain<AddressWithdrawal | BlockWithdrawal>('validator_index', ({ validator_index }) => validator_index),
  coins<AddressWithdrawal | BlockWithdrawal>('amount', item => item.amount),
] as const;
const withdrawalBlock = [
  plain<AddressWithdrawal>('block_number', ({ block_number }) => block_number),
  plain<AddressWithdrawal>('timestamp', ({ timestamp }) => timestamp),
] as const;
const receiver = plain<BlockWithdrawal>('receiver', item => item.receiver.hash);

const withdrawals = exportedRecords<Schemas['Withdrawal']>(
  [...withdrawalStart, receiver, ...withdrawalBlock],
  ({ timestamp }) => timestamp,
);
const addressWithdrawals = exportedRecords<AddressWithdrawal>(
  [...withdrawalStart, ...withdrawalBlock],
  ({ timestamp }) => timestamp,
);
const blockWithdrawals = exportedRecords<BlockWithdrawal>([...withdrawalStart, receiver]);

/** Each list that can be exported, with the columns of its records. */
export const EXPORTED_LISTS: Readonly<Record<ExportedList, ListExport>> = {
  listTransactions: { file: 'transactions', records: transactions },
  listBlocks: { file: 'blocks', records: blocks },
  listTokenTransfers: { file: 'token-transfers', records: transfers },
  listInternalTransactions: { file: 'internal-transactions', records: internalTransactions },
  listWithdrawals: { file: 'withdrawals', records: withdrawals },
  listAddresses: { file: 'addresses', records: addresses },
  listTokens: { file: 'tokens', records: tokens },
  listSmartContracts: { file: 'contracts', records: contracts },
  listTransactionTokenTransfers: { file: 'token-transfers', records: transfers },
  listTransactionInternalTransactions: { file: 'internal-transactions', records: internalTransactions },
  listTransactionLogs: { file: 'logs', records: logs },
  listBlockTransactions: { file: 'transactions', records: transactions },
  listBlockInternalTransactions: { file: 'internal-transactions', records: internalTransactions },
  listBlockWithdrawals: { file: 'withdrawals', records: blockWithdrawals },
  listAddressTransactions: { file: 'transactions', records: transactions },
  listAddressTokenTransfers: { file: 'token-transfers', records: transfers },
  listAddressInternalTransactions: { file: 'internal-transactions', records: internalTransactions },
  listAddressLogs: { file: 'logs', records: logs },
  listAddressTokens: { file: 'tokens', records: addressTokens },
  listAddressNfts: { file: 'nfts', records: nfts },
  listAddressCoinBalances: { file: 'coin-balances', records: coinBalances },
  listAddressBlocksValidated: { file: 'validated-blocks', records: blocks },
  listAddressWithdrawals: { file: 'withdrawals', records: addressWithdrawals },
  listTransfersOfToken: { file: 'transfers', records: transfers },
  listTokenHolders: { file: 'holders', records: holders, isOfToken: true },
  listTokenInstances: { file: 'instances', records: instances },
  listTransfersOfTokenInstance: { file: 'transfers', records: transfers },
  listTokenInstanceHolders: { file: 'holders', records: holders, isOfToken: true },
};
