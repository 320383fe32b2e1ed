import { InvalidBody } from '../../contract/contracts/violations.ts';
import type { LinkDefaults, Mode } from '../model/owner.ts';
import { NATIVE_COIN, normalToken, type PaymentChains, tokenOf } from '../model/payment-chain.ts';

/**
 * Checks those defaults that a change names. A default entered by the operator may be of the other mode. It is checked
 * when a link uses it.
 * @throws InvalidBody naming a field of the request (Decision 220)
 */
export function checkDefaults(
  { chainId, tokenAddress, recipientAddress }: LinkDefaults,
  { chains, mode }: { chains: PaymentChains; mode: Mode },
  isGiven: (field: string) => boolean,
): void {
  const chain = chainId === null ? undefined : chains.find(mode, chainId);
  if (isGiven('default_chain_id') && chainId !== null && chain === undefined) {
    throw new InvalidBody('default_chain_id', `must be a chain that is configured for ${mode} mode`);
  }
  const isTokenGiven = isGiven('default_token_address');
  if (chain !== undefined && tokenAddress !== null && (isTokenGiven || isGiven('default_chain_id'))) {
    if (tokenOf(chain, tokenAddress) === undefined) {
      throw new InvalidBody(
        isTokenGiven ? 'default_token_address' : 'default_chain_id',
        `must agree with the tokens that are configured for chain ${chain.id}`,
      );
    }
  }
  const isRecipientGiven = isGiven('default_recipient_address');
  if (recipientAddress === null || !(isRecipientGiven || isTokenGiven)) return;
  const recipient = normalToken(recipientAddress);
  if (recipient === NATIVE_COIN) {
    const rule = 'must not be the zero address, because payments to it are lost';
    throw new InvalidBody('default_recipient_address', rule);
  }
  if (recipient !== tokenAddress) {
    if (chain === undefined || tokenOf(chain, recipient) === undefined) return;
    const rule = 'must not be the contract of a token, because payments to it are lost';
    throw new InvalidBody('default_recipient_address', rule);
  }
  throw isRecipientGiven
    ? new InvalidBody('default_recipient_address', "must differ from 'default_token_address'")
    : new InvalidBody('default_token_address', "must differ from 'default_recipient_address'");
}
