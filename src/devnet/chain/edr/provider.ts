import {
  AMSTERDAM,
  ContractDecoder,
  EdrContext,
  L1_CHAIN_TYPE,
  l1GenesisState,
  l1HardforkFromString,
  l1ProviderFactory,
  MineOrdering,
  PRAGUE,
  type Provider,
  type ProviderConfig,
} from '@nomicfoundation/edr';
import { hexToBytes } from 'viem';
import { PROXY, PROXY_CODE } from '#deposits/deterministic-proxy.ts';
import { MAX_TRANSACTION_GAS } from '#evm/transaction-gas.ts';
import { ACCOUNT_COUNT, deriveAccounts } from '../accounts.ts';
import type { Hardfork } from '../engine.ts';

/** Initial balance of every account in wei, the same as with anvil. */
const ENDOWMENT = 10_000n * 10n ** 18n;
/** New state costs so much more gas since Amsterdam that blocks have to be larger for the same transactions. */
const BLOCK_GAS_LIMITS: Readonly<Record<Hardfork, bigint>> = { prague: 30_000_000n, amsterdam: 240_000_000n };
const FIRST_BASE_FEE = 10n ** 9n;

/** EDR's names of forks. */
const FORKS: Readonly<Record<Hardfork, string>> = { prague: PRAGUE, amsterdam: AMSTERDAM };

interface EdrChain {
  readonly chainId: number;
  readonly hardfork: Hardfork;
  /** Time of the first block in seconds. */
  readonly genesisTime: number;
}

/** EDR allows one for each process. */
let context: Promise<EdrContext> | undefined;

async function l1Context(): Promise<EdrContext> {
  const created = new EdrContext();
  await created.registerProviderFactory(L1_CHAIN_TYPE, l1ProviderFactory());
  return created;
}

/**
 * Opens an EDR chain with the accounts of the embedded chains. It mines only on request. `changes` replace settings of
 * EDR.
 */
export async function openProvider(
  chain: EdrChain,
  changes: Partial<ProviderConfig> = {},
): Promise<Provider> {
  context ??= l1Context();
  return (await context).createProvider(
    L1_CHAIN_TYPE,
    { ...providerConfig(chain), ...changes },
    { enable: false, decodeConsoleLogInputsCallback: () => [], printLineCallback: () => {} },
    { subscriptionCallback: () => {} },
    new ContractDecoder(),
  );
}

function providerConfig({ chainId, hardfork, genesisTime }: EdrChain): ProviderConfig {
  const { signer, privateKey } = deriveAccounts();
  const gasLimit = BLOCK_GAS_LIMITS[hardfork];
  const indices = [...Array(ACCOUNT_COUNT + 1).keys()];
  return {
    chainId: BigInt(chainId),
    networkId: BigInt(chainId),
    hardfork: FORKS[hardfork],
    genesisState: [
      ...l1GenesisState(l1HardforkFromString(FORKS[hardfork])),
      ...indices.map(index => ({ address: hexToBytes(signer(index).address), balance: ENDOWMENT })),
      // As with anvil.
      { address: hexToBytes(PROXY), code: hexToBytes(PROXY_CODE) },
    ],
    ownedAccounts: indices.map(privateKey),
    network: {
      genesisBlockGasLimit: gasLimit,
      genesisBlockTime: BigInt(genesisTime),
      genesisBlobGas: { gasUsed: 0n, excessGas: 0n },
    },
    coinbase: new Uint8Array(20),
    initialParentBeaconBlockRoot: new Uint8Array(32),
    initialBaseFeePerGas: FIRST_BASE_FEE,
    minGasPrice: 0n,
    // Gas of a transaction that a client sends without saying how much. Amsterdam refuses more than its largest.
    defaultTransactionGasLimit: hardfork === 'amsterdam' ? MAX_TRANSACTION_GAS : gasLimit,
    mining: { autoMine: false, blockGasLimit: gasLimit, memPool: { order: MineOrdering.Fifo } },
    allowBlocksWithSameTimestamp: false,
    allowUnlimitedContractSize: false,
    bailOnCallFailure: true,
    bailOnTransactionFailure: false,
    observability: {},
    precompileOverrides: [],
  };
}
