import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { Tester } from '../tester.ts';
import type { Links } from './links-scenario.ts';

/** Values for the form and the shipping of the open link. */
const CHOICES = {
  amount: '2000',
  form_data: { size: 'M', note: '=1+1' },
  shipping_option_id: 'post',
  shipping_address: { line1: '12 St James’s Square', city: 'London', zip: 'SW1Y 4JH', country: 'GB' },
  customerEmail: 'ada@example.com',
  customerName: 'Ada Lovelace',
};

const SOME_HASH = `0x${'c0ffee'.padEnd(64, '0')}`;

/**
 * Acts as a payer, up to the claim: opens a session, signs with a wallet, and claims a transaction that does not exist.
 */
export async function payerStory(tester: Tester, { open }: Links): Promise<void> {
  const code = { short_code: String(open.short_code) };
  const start = (body: object, expected: string) =>
    tester.ask('startCheckout', { at: code, body: { ...CHOICES, ...body } }, [expected]);
  await start({ amount: '999' }, '400 invalid_field_value amount');
  await start({ form_data: {} }, '400 missing_required_field form_data.size');
  await start({ form_data: { size: 'XL' } }, '400 invalid_field_value form_data.size');
  await start({ shipping_option_id: null }, '400 missing_required_field shipping_option_id');
  await start({ shipping_option_id: 'boat' }, '400 invalid_field_value shipping_option_id');
  await start({ shipping_address: null }, '400 missing_required_field shipping_address');

  const { body: checkout } = await start({}, '201');
  const at = { checkout_session_id: String(checkout.id) };
  const { body: again } = await tester.ask('getCheckout', { at }, ['200']);
  if (JSON.stringify(again) !== JSON.stringify(checkout))
    tester.report('getCheckout: differs from the session that was opened');
  await tester.ask('claimPayment', { at, body: { tx_hash: SOME_HASH } }, ['400 invalid_status_transition']);

  const wallet = privateKeyToAccount(generatePrivateKey());
  const message = String(checkout.wallet_message);
  const foreign = await wallet.signMessage({ message });
  const signature = await wallet.signMessage({
    message: message.replace('{address}', wallet.address),
  });
  const bind = (text: string, expected: string) =>
    tester.ask('bindWallet', { at, body: { address: wallet.address, signature: text } }, [expected]);
  await bind(foreign, '400 invalid_field_value signature');
  const bound = await bind(signature, '200');
  if (bound.body.payer_address !== wallet.address.toLowerCase())
    tester.report('bindWallet: the wallet is not bound');
  const claimed = await tester.ask('claimPayment', { at, body: { tx_hash: SOME_HASH } }, ['200']);
  await tester.ask('reportPayment', { at, body: {} }, ['400 missing_required_field']);
  const reported = await tester.ask('reportPayment', { at, body: { tx_hash: SOME_HASH } }, ['200']);
  // A service whose chain was just asked for this hash knows that there is none.
  if (reported.body.found !== 'searching' && reported.body.found !== 'unknown')
    tester.report('reportPayment: found a transaction that does not exist');
  if (claimed.body.tx_hash !== SOME_HASH)
    tester.report('claimPayment: the claimed transaction is not in the state');
}
