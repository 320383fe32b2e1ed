import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { h } from '#pages/browser/element.ts';
import { dataOf, showOver } from '../page-data.ts';
import { textsOf } from '../texts.ts';
import { type Claims, claimsOf } from '../wallet/claims.ts';
import { useWalletOffer } from '../wallet/wallet-offer.ts';
import { type FollowedPage, followedPage } from './following.ts';
import type { ShownSession } from './methods.ts';
import { useRefundStatement } from './refund-statement.ts';
import type { PaymentReporter } from './report-payment.ts';
import { reportedPayment } from './reported-payment.ts';
import { SessionPage } from './session-page.ts';
import { owedByWallet } from './states.ts';

const sent = dataOf<ShownSession>(document);
const opened = { ...sent, now: sent.now + sinceArrivalMs() };
void textsOf(document).then(texts => {
  const page = followedPage(opened, texts);
  const claims = claimsOf(page.session);
  const report = (typed: string) => reportedPayment(page.session, typed, texts);
  showOver(h(LiveSession, { page, claims, report }), texts);
});

interface LiveSessionProps {
  readonly page: FollowedPage;
  readonly claims: Claims;
  readonly report: PaymentReporter;
}

/** The page of a session, kept up to date, with the wallets of this browser. */
function LiveSession({ page, claims, report }: LiveSessionProps): VNode {
  const [view, setView] = useState(opened);
  const [connection, setConnection] = useState('');
  useEffect(() => turnInTime(view, setView), [view]);
  useEffect(() => page.follow(claims, { onView: setView, onConnection: setConnection }), []);
  const { session } = page;
  const wallets = useWalletOffer({ session, claims, state: view.state, owed: owedByWallet(view) });
  const statement = useRefundStatement(view);
  return h(SessionPage, { view, wallets, report, statement, connection });
}

/**
 * Shows the end of a reservation and of the time to pay when they come, whether or not the server answers. Returns how
 * to stop that.
 */
function turnInTime(
  view: ShownSession,
  show: (change: (shown: ShownSession) => ShownSession) => void,
): () => void {
  const { expires_at, use_reserved_until: reserved } = view.state;
  const ends = [expires_at, ...(reserved === null ? [] : [reserved])].map(Date.parse);
  const next = Math.min(...ends.filter(end => end > view.now));
  const turn = () => show(shown => (shown === view ? { ...view, now: next } : shown));
  const timer = Number.isFinite(next) ? setTimeout(turn, next - view.now) : undefined;
  return () => clearTimeout(timer);
}

/** Time since the page began to arrive. On a slow connection its script runs much later. */
function sinceArrivalMs(): number {
  const [arrival] = performance.getEntriesByType('navigation');
  if (!(arrival instanceof PerformanceNavigationTiming)) return 0;
  return Math.max(0, performance.now() - arrival.responseStart);
}
