import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { h } from '#pages/browser/element.ts';
import { dataOf, showOver } from '../page-data.ts';
import { claimsOf } from '../wallet/claims.ts';
import { useWalletOffer } from '../wallet/wallet-offer.ts';
import { followedPage } from './following.ts';
import type { ShownSession } from './methods.ts';
import { useRefundStatement } from './refund-statement.ts';
import { reportedPayment } from './reported-payment.ts';
import { SessionPage } from './session-page.ts';
import { owedByWallet } from './states.ts';

const opened = dataOf<ShownSession>(document);
const page = followedPage(opened);
const claims = claimsOf(page.session);
const report = (typed: string) => reportedPayment(page.session, typed);
showOver(h(LiveSession, {}));

/** The page of a session, kept up to date, with the wallets of this browser. */
function LiveSession(): VNode {
  const [view, setView] = useState(opened);
  const [connection, setConnection] = useState('');
  useEffect(() => turnAtEnd(view, setView), [view]);
  useEffect(() => page.follow(claims, { onView: setView, onConnection: setConnection }), []);
  const { session } = page;
  const wallets = useWalletOffer({ session, claims, state: view.state, owed: owedByWallet(view) });
  const statement = useRefundStatement(view);
  return h(SessionPage, { view, wallets, report, statement, connection });
}

/** Shows the end of the time to pay when it comes, whether or not the server answers. Returns how to stop that. */
function turnAtEnd(
  view: ShownSession,
  show: (change: (shown: ShownSession) => ShownSession) => void,
): () => void {
  const end = Date.parse(view.state.expires_at);
  const isOver = view.now >= end;
  const turn = () => show(shown => (shown === view ? { ...view, now: end } : shown));
  const timer = isOver ? undefined : setTimeout(turn, end - view.now);
  return () => clearTimeout(timer);
}
