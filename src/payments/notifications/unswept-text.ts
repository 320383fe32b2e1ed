import type { NoticePayload } from '../model/notification.ts';
import {
  type Content,
  chainWords,
  dashboardPage,
  given,
  type Merchant,
  type TextContext,
  titled,
} from './content.ts';

/** Content about money on deposit addresses that is not swept, for the merchant. */
export function unsweptContent(
  { chainId, tokenAddress, unswept, limit, noticedAt }: Extract<NoticePayload, { kind: 'unswept' }>,
  merchant: Merchant,
  context: TextContext,
): Content {
  const { chainName, amountOf } = chainWords({ chain_id: chainId, token_address: tokenAddress }, context);
  return {
    title: titled('Deposit addresses are to be swept', merchant),
    facts: given([
      ['Merchant', merchant.name],
      ['Chain', chainName],
      ['Not swept', amountOf(unswept)],
      ['Limit', amountOf(limit)],
      ['Found at', new Date(noticedAt).toISOString()],
    ]),
    closing:
      'More than half of what may lie on your deposit addresses is not swept. From the limit on, new checkouts ask for an exact amount instead of a deposit address. Addresses that payers have seen keep counting. Sweep the addresses of ended checkouts to have them pay you.',
    link: dashboardPage(context, 'deposit-addresses'),
    linkText: 'Open the deposit addresses in the dashboard',
  };
}
