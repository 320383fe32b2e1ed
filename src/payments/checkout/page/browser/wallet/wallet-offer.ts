import { useEffect, useRef, useState } from 'preact/hooks';
import type { CheckoutState, FollowedSession } from '../api.ts';
import { useTexts } from '../texts.ts';
import type { Claims } from './claims.ts';
import { useFoundWallets } from './found-wallets.ts';
import { payByWallet, proveByWallet, sentMessage } from './wallet-payment.ts';
import type { Wallet } from './wallet-provider.ts';
import type { WalletMessage, WalletOffer } from './wallet-way.ts';

interface WalletOfferOptions {
  readonly session: FollowedSession;
  readonly claims: Claims;
  readonly state: CheckoutState;
  /** Amount that a wallet still owes, in the token's smallest unit. */
  readonly owed: bigint;
}

/** Lets the wallets of this browser pay a session, once. */
export function useWalletOffer({ session, claims, state, owed }: WalletOfferOptions): WalletOffer {
  const texts = useTexts();
  const found = useFoundWallets();
  const [isPaying, setPaying] = useState(false);
  // At once, where the state changes with the next rendering: a double click must not pay twice.
  const isBusy = useRef(false);
  // True while a payment is on its way, which prevents a second one before the server knows of the first.
  const [isSent, setSent] = useState(claims.hasUnclaimed());
  const [message, setMessage] = useState<WalletMessage | undefined>(isSent ? sentMessage(texts) : undefined);
  const [proof, setProof] = useState<WalletMessage>();
  const outcome = outcomeOf(state);
  const knownOutcome = useRef(outcome);
  useEffect(() => {
    if (outcome !== knownOutcome.current && outcome !== '') {
      setSent(false);
      if (!isBusy.current) setMessage(undefined);
    }
    knownOutcome.current = outcome;
  }, [outcome]);

  async function pay({ provider }: Wallet): Promise<void> {
    if (isBusy.current || isSent) return;
    isBusy.current = true;
    setPaying(true);
    try {
      const result = await payByWallet({
        ...session,
        claims,
        provider,
        amount: owed,
        tell: setMessage,
        texts,
      });
      setSent(result.isSent);
      setMessage(result.message);
    } finally {
      isBusy.current = false;
      setPaying(false);
    }
  }

  async function prove({ provider }: Wallet): Promise<void> {
    if (isBusy.current) return;
    isBusy.current = true;
    setPaying(true);
    try {
      setProof(await proveByWallet({ ...session, provider, tell: setProof, texts }));
    } finally {
      isBusy.current = false;
      setPaying(false);
    }
  }

  return { ...found, isLocked: isPaying || isSent, message, proof, pay, prove };
}

/**
 * Failed or partial outcome of the payments so far, after which the payer may pay again; empty otherwise. A claim alone
 * does not change it.
 */
function outcomeOf({
  payment_status: status,
  amount_received: received,
  tx_hash: hash,
}: CheckoutState): string {
  if (status === 'failed') return `failed ${hash}`;
  return status === 'underpaid' ? `underpaid ${received}` : '';
}
