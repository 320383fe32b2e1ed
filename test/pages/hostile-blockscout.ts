import { isObject } from '#lib/json.ts';
import { fixturesOf } from '../lab/blockscout-fixtures.ts';
import { blockscoutChain, startTestDataService } from '../lab/data-service.ts';
import { type SeenRequest, startScriptedUpstream } from '../lab/scripted-upstream.ts';

export const CHAIN = 1;
export const ADDRESS = '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045';
export const TOKEN = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
export const TRANSACTION = '0x431a75a0d711dfe3639aae96eb8f9facc2fd74df5aa611067f2511cc9fefc229';
/** A name that turns the text behind it, in one word of 20,000 characters. */
const NAME = `\u202e${'W'.repeat(20_000)}`;
/** The largest amount that the contract can represent. */
const AMOUNT = '9'.repeat(78);
const RATE = '3150.25';

const OPERATIONS = [
  ...[
    'getAddress',
    'getAddressCounters',
    'getBlock',
    'getStats',
    'getToken',
    'getTokenCounters',
    'getTransaction',
  ],
  ...['getTokenInstance', 'getTransactionSummary', 'listAddressBlocksValidated', 'listAddressCoinBalances'],
  ...['listAddressInternalTransactions', 'listAddressNfts', 'listAddressTokenTransfers', 'listAddressTokens'],
  ...['listAddressTransactions', 'listAddressWithdrawals', 'listAddresses', 'listBlockInternalTransactions'],
  ...['listBlockTransactions', 'listBlockWithdrawals', 'listBlocks', 'listInternalTransactions'],
  ...['listMainPageBlocks', 'listMainPageTransactions', 'listSmartContracts', 'listTokenHolders'],
  ...['listTokenInstances', 'listTokenTransfers', 'listTokens', 'listTransactionInternalTransactions'],
  ...[
    'listTransactionStateChanges',
    'listTransactionTokenTransfers',
    'listTransactions',
    'listTransfersOfToken',
  ],
  ...['listTransfersOfTokenInstance', 'listWithdrawals', 'search'],
];

/** Bodies by the form of their path. */
const BODIES = new Map(
  OPERATIONS.flatMap(operation => {
    const fixture = fixturesOf(operation).findLast(
      ({ name, path }) => /^v[\d.]+$/.test(name) && !/[?&](?:type|filter)=/.test(path),
    );
    return fixture === undefined ? [] : [[formOf(fixture.path), fixture.text] as const];
  }),
);

/**
 * A data service over a Blockscout whose every name has 20,000 characters, whose every amount has 78 digits, and whose
 * tokens have 255 decimals. All records have a rate, and are marked as scams.
 */
export async function startHostileBlockscout(
  /** Bodies of paths that are answered otherwise. */
  others: Readonly<Record<string, unknown>> = {},
): Promise<{ url: string } & AsyncDisposable> {
  const stack = new AsyncDisposableStack();
  const upstream = stack.use(
    await startScriptedUpstream(request => ({ json: others[request.path] ?? bodyOf(request) })),
  );
  const service = stack.use(
    await startTestDataService([], {
      chains: [blockscoutChain(CHAIN, upstream.url)],
      rateLimitPerMinute: 1e9,
    }),
  );
  return { url: service.url, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

/** Paths of pages below the chain that show each kind of list. */
export const LISTS = [
  ...[
    'transactions',
    'blocks',
    'tokens',
    'transfers',
    'internal',
    'accounts',
    'contracts',
    'withdrawals',
  ].map(tab => `?tab=${tab}`),
  ...['transactions', 'internal', 'transfers', 'tokens', 'balance', 'blocks', 'withdrawals'].map(
    tab => `/address/${ADDRESS}?tab=${tab}`,
  ),
  ...['transfers', 'holders'].map(tab => `/token/${TOKEN}?tab=${tab}`),
  ...['', '?tab=transfers', '?tab=state'].map(tab => `/tx/${TRANSACTION}${tab}`),
  ...['transactions', 'internal', 'withdrawals'].map(tab => `/block/19854321?tab=${tab}`),
];

function bodyOf({ path }: SeenRequest): unknown {
  const text = BODIES.get(formOf(path));
  if (text === undefined) return { items: [], next_page_params: null };
  const [, kind = '', id = '', list] = path.split('/');
  const body: unknown = hostile(JSON.parse(text), { kind, id });
  if (!isObject(body)) return body;
  if (Array.isArray(body.items)) return { ...body, next_page_params: null };
  return list === undefined && id !== '' ? { ...body, ...identity({ kind, id }) } : body;
}

interface Owner {
  readonly kind: string;
  readonly id: string;
}

/** Fields by which the record itself is recognized. */
function identity({ kind, id }: Owner): Record<string, unknown> {
  if (kind === 'tokens') return { address_hash: id, address: id };
  return kind === 'blocks' ? {} : { hash: id };
}

const AMOUNTS =
  /^(?:value|total_supply|coin_balance|balance_before|balance_after|change|delta|amount|fetched_coin_balance)$/;
const LONG =
  /^(?:name|symbol|display_name|ens_domain_name|method|method_id|compiler_version|error|revert_reason|token_name)$/;

/** Replaces every name and amount, and the parties that a list of an address must have. */
function hostile(value: unknown, owner: Owner, key = ''): unknown {
  if (Array.isArray(value)) return value.map(item => hostile(item, owner, key));
  if (AMOUNTS.test(key) && typeof value === 'string') return AMOUNT;
  if (LONG.test(key) && (typeof value === 'string' || key === 'name')) return NAME;
  if (key === 'decimals') return '255';
  if (key === 'exchange_rate') return RATE;
  if (key === 'reputation') return 'scam';
  if (key === 'transaction_hash' && owner.kind === 'transactions' && owner.id !== '') return owner.id;
  if (!isObject(value)) return value;
  const changed = Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, hostile(inner, owner, name)]),
  );
  if (owner.kind === 'addresses' && /^(?:from|miner)$/.test(key)) return { ...changed, hash: owner.id };
  return owner.kind === 'tokens' && key === 'token' ? { ...changed, ...identity(owner) } : changed;
}

/** `/addresses/:id/tokens` for a path with an address, and so on. */
function formOf(path: string): string {
  return path
    .replace(/\?.*$/, '')
    .replace(/0x[0-9a-fA-F]{40,64}/g, ':id')
    .replace(/\/\d+(?=\/|$)/g, '/:id');
}
