import type { PaymentsSchemas } from '../../contract/contracts/payments.ts';
import type { DepositOffers } from '../deposits/deposit-offers.ts';
import { depositStatus } from '../deposits/offer-status.ts';
import { type PaymentChain, permitsDepositAddress } from '../model/payment-chain.ts';
import { setAsideBlockStore } from '../store/set-aside-block-store.ts';
import type { ApiHandlers, PaymentsContext } from './gate/api-context.ts';

interface ChainHandlersOptions extends Pick<PaymentsContext, 'chains' | 'db'> {
  /** True while payments on the chain are detected late. */
  readonly isChainLate: (chainId: number) => Promise<boolean>;
  readonly deposits: DepositOffers;
}

/** Operation that lists the chains and tokens of the key's mode (Decision 234). */
export function chainHandlers({ chains, db, isChainLate, deposits }: ChainHandlersOptions) {
  return {
    async listPaymentChains(_, { mode }) {
      const ofMode = chains.all.filter(chain => chain.mode === mode);
      const setAside = await setAsideBlockStore(db).counts();
      const data = ofMode.map(async chain =>
        chainBody(chain, {
          isLate: await isChainLate(chain.id),
          setAsideBlocks: setAside.get(chain.id) ?? 0,
          depositAddresses: depositStatus(deposits, chain.id),
        }),
      );
      return { status: 200, body: { object: 'list', data: await Promise.all(data) } };
    },
  } satisfies ApiHandlers;
}

function chainBody(
  { id, name, mode, confirmations, explorerUrl, tokens, depositAddresses: rules }: PaymentChain,
  {
    isLate,
    setAsideBlocks,
    depositAddresses,
  }: { isLate: boolean; setAsideBlocks: number; depositAddresses: ReturnType<typeof depositStatus> },
): PaymentsSchemas['PaymentChain'] {
  return {
    object: 'payment_chain',
    id,
    name,
    mode,
    required_confirmations: confirmations,
    is_late: isLate,
    set_aside_blocks: setAsideBlocks,
    deposit_addresses: depositAddresses,
    explorer_url: explorerUrl?.('{tx_hash}') ?? null,
    tokens: tokens.map(({ address, symbol, decimals }) => ({
      address,
      symbol,
      decimals,
      payment_methods: permitsDepositAddress(rules, address)
        ? ['exact_amount', 'deposit_address']
        : ['exact_amount'],
    })),
  };
}
