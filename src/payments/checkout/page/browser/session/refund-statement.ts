import { useEffect, useState } from 'preact/hooks';
import type { Texts } from '#payments/browser/languages/en.ts';
import { ANSWER_MS, payerApi } from '../api.ts';
import { useTexts } from '../texts.ts';
import type { Wallet } from '../wallet/wallet-provider.ts';
import { connectedAccount, Stop, signatureOf, stopReason } from '../wallet/wallet-transfer.ts';
import { isRefundable, type RefundAddress, type RefundStatement } from './refund-address.ts';
import type { SessionView } from './states.ts';

/** Reads and changes the refund address of a session. */
export function useRefundStatement(view: SessionView): RefundStatement {
  const texts = useTexts();
  const isShown = isRefundable(view);
  const [stated, setStated] = useState<RefundAddress>();
  const [said, setSaid] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [mailed] = useState(() => /^#refund=([0-9A-Za-z]{32})$/.exec(location.hash)?.[1]);
  const [isSpent, setSpent] = useState(false);
  const token = isSpent ? undefined : mailed;
  const { id, chain } = view.checkout;
  useEffect(() => {
    if (isShown) void read(id, {}).then(setStated, () => undefined);
  }, [isShown]);
  const attempt = (busyText: string, work: () => Promise<string>) => {
    if (isBusy) return;
    setBusy(true);
    setSaid(busyText);
    void work()
      .then(setSaid, reason => setSaid(stopReason(reason, chain, texts)))
      .finally(() => setBusy(false));
  };
  const state = (address: string, wallet?: Wallet) =>
    attempt(wallet === undefined ? '' : texts.wallet.signText, async () => {
      setStated(await keep(id, address, { wallet, token }));
      // The link works once.
      setSpent(true);
      if (token !== undefined) history.replaceState(null, '', location.pathname);
      return texts.refund.done;
    });
  const mail = () => attempt('', () => mailedLink(id, texts));
  const isUsed = mailed !== undefined || isBusy || said !== '';
  return { stated, said, isBusy, isUsed, token, state, mail };
}

/** Asks for a link. The server does not say whether an e-mail address is known. */
async function mailedLink(id: string, { refund }: Texts): Promise<string> {
  const { data, error } = await payerApi.POST(
    '/api/v1/pay/sessions/{checkout_session_id}/refund-address/link',
    { params: { path: { checkout_session_id: id } }, signal: AbortSignal.timeout(ANSWER_MS) },
  );
  if (data === undefined) throw new Stop(texts => error?.error.message ?? texts.report.unreachable);
  return refund.mailed;
}

async function read(
  id: string,
  query: { address?: string; wallet_address?: string },
): Promise<RefundAddress> {
  const { data, error } = await payerApi.GET('/api/v1/pay/sessions/{checkout_session_id}/refund-address', {
    params: { path: { checkout_session_id: id }, query },
    signal: AbortSignal.timeout(ANSWER_MS),
  });
  if (data === undefined) throw new Stop(texts => error?.error.message ?? texts.report.unreachable);
  return data;
}

async function keep(
  id: string,
  address: string,
  { wallet, token }: { readonly wallet: Wallet | undefined; readonly token: string | undefined },
): Promise<RefundAddress> {
  const unsigned = token === undefined ? {} : { token };
  const proof = wallet === undefined ? unsigned : await proofOf(id, address, wallet);
  const { data, error } = await payerApi.POST('/api/v1/pay/sessions/{checkout_session_id}/refund-address', {
    params: { path: { checkout_session_id: id } },
    body: { address, ...proof },
    signal: AbortSignal.timeout(ANSWER_MS),
  });
  if (data === undefined) throw new Stop(texts => error?.error.message ?? texts.report.unreachable);
  return data;
}

async function proofOf(id: string, address: string, { provider }: Wallet) {
  const account = await connectedAccount(provider);
  const { message } = await read(id, { address, wallet_address: account });
  return { wallet_address: account, signature: await signatureOf(provider, account, message ?? '') };
}
