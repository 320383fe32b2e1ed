import { useEffect, useState } from 'preact/hooks';
import { ANSWER_MS, payerApi } from '../api.ts';
import type { Wallet } from '../wallet/wallet-provider.ts';
import { connectedAccount, Stop, stopReason } from '../wallet/wallet-transfer.ts';
import { isRefundable, type RefundAddress, type RefundStatement } from './refund-address.ts';
import type { SessionView } from './states.ts';

/** Reads and changes the refund address of a session. */
export function useRefundStatement(view: SessionView): RefundStatement {
  const isShown = isRefundable(view);
  const [stated, setStated] = useState<RefundAddress>();
  const [said, setSaid] = useState('');
  const [isBusy, setBusy] = useState(false);
  const { id, chain } = view.checkout;
  useEffect(() => {
    if (isShown) void read(id, {}).then(setStated, () => undefined);
  }, [isShown]);
  const state = (address: string, wallet?: Wallet) => {
    if (isBusy) return;
    setBusy(true);
    setSaid(wallet === undefined ? '' : 'Sign the text in your wallet. This moves no money.');
    void keep(id, address, wallet)
      .then(
        kept => {
          setStated(kept);
          setSaid('Your address is stated. The shop sees it.');
        },
        reason => setSaid(stopReason(reason, chain)),
      )
      .finally(() => setBusy(false));
  };
  return { stated, said, isBusy, state };
}

async function read(
  id: string,
  query: { address?: string; wallet_address?: string },
): Promise<RefundAddress> {
  const { data, error } = await payerApi.GET('/api/v1/pay/sessions/{checkout_session_id}/refund-address', {
    params: { path: { checkout_session_id: id }, query },
    signal: AbortSignal.timeout(ANSWER_MS),
  });
  if (data === undefined) throw new Stop(error?.error.message ?? UNREACHABLE);
  return data;
}

async function keep(id: string, address: string, wallet: Wallet | undefined): Promise<RefundAddress> {
  const proof = wallet === undefined ? {} : await proofOf(id, address, wallet);
  const { data, error } = await payerApi.POST('/api/v1/pay/sessions/{checkout_session_id}/refund-address', {
    params: { path: { checkout_session_id: id } },
    body: { address, ...proof },
    signal: AbortSignal.timeout(ANSWER_MS),
  });
  if (data === undefined) throw new Stop(error?.error.message ?? UNREACHABLE);
  return data;
}

async function proofOf(id: string, address: string, { provider }: Wallet) {
  const account = await connectedAccount(provider);
  const { message } = await read(id, { address, wallet_address: account });
  const bytes = [...new TextEncoder().encode(message ?? '')].map(byte => byte.toString(16).padStart(2, '0'));
  const signature = await provider.request({
    method: 'personal_sign',
    params: [`0x${bytes.join('')}`, account],
  });
  return { wallet_address: account, signature: String(signature) };
}

const UNREACHABLE = 'The server could not be reached. Please try again.';
