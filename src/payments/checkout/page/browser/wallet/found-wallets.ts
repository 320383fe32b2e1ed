import { useEffect, useState } from 'preact/hooks';
import { fieldOf, isProvider, type Wallet } from './wallet-provider.ts';

/** Time for wallets to announce themselves, in milliseconds. After it the page says that there is none. */
const ANNOUNCED_WITHIN_MS = 800;

/** Wallets of a browser. */
export interface FoundWallets {
  readonly wallets: readonly Wallet[];
  /** True once wallets had time to announce themselves. */
  readonly isSearched: boolean;
}

/** Finds the wallets of this browser. Source: EIP-6963. */
export function useFoundWallets(): FoundWallets {
  const [found, setFound] = useState<readonly Wallet[]>([]);
  const [isSearched, setSearched] = useState(false);
  useEffect(() => {
    const announced = (event: Event) => {
      const wallet = walletIn(event);
      if (wallet === undefined) return;
      setFound(before => [...before.filter(({ id }) => id !== wallet.id), wallet]);
    };
    addEventListener('eip6963:announceProvider', announced);
    dispatchEvent(new Event('eip6963:requestProvider'));
    const timer = setTimeout(() => {
      setFound(before => (before.length === 0 ? olderWallets() : before));
      setSearched(true);
    }, ANNOUNCED_WITHIN_MS);
    return () => {
      removeEventListener('eip6963:announceProvider', announced);
      clearTimeout(timer);
    };
  }, []);
  return { wallets: found, isSearched };
}

function walletIn(event: Event): Wallet | undefined {
  const detail = fieldOf(event, 'detail');
  const info = fieldOf(detail, 'info');
  const provider = fieldOf(detail, 'provider');
  const id = fieldOf(info, 'uuid');
  if (typeof id !== 'string' || !isProvider(provider)) return undefined;
  return { id, name: String(fieldOf(info, 'name')), icon: String(fieldOf(info, 'icon')), provider };
}

/** A wallet that does not announce itself. Source: EIP-1193. */
function olderWallets(): readonly Wallet[] {
  const provider = fieldOf(window, 'ethereum');
  return isProvider(provider) ? [{ id: 'window', name: 'your wallet', icon: '', provider }] : [];
}
