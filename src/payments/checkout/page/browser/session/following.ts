import type { Texts } from '#payments/browser/languages/en.ts';
import { ANSWER_MS, type CheckoutState, type FollowedSession, pathOf, payerApi } from '../api.ts';
import { dataOf } from '../page-data.ts';
import type { Claims } from '../wallet/claims.ts';
import type { ShownSession } from './methods.ts';
import { type PagePace, paceOf } from './states.ts';

/** Longest time for which the server holds a request until the state changes, in seconds. */
const WAIT_S = 25;
/** Pauses between requests: after a change, and from the shortest to the longest while nothing changes. */
const CHANGED_MS = 1_000;
const SHORTEST_MS = 2_000;
const LONGEST_MS = 15_000;
/** Pause while the session has ended and a late payment may still be recognised. */
const ENDED_MS = 30_000;
const LONGEST_AFTER_FAILURE_MS = 30_000;
const FAILURES_BEFORE_NOTICE = 3;

/** A session's page that is kept up to date. */
export interface FollowedPage {
  readonly session: FollowedSession;
  /** Polls the state, slower once the session has ended. When it is final, polls when the payer returns to the page. */
  readonly follow: (claims: Claims, listener: PageListener) => void;
}

interface PageListener {
  /** A newer state of the session. */
  readonly onView: (view: ShownSession) => void;
  /** Sentence about the connection for the payer; empty while it is good. */
  readonly onConnection: (text: string) => void;
}

/** Keeps the page of a session up to date. */
export function followedPage(opened: ShownSession, texts: Texts): FollowedPage {
  let view = opened;
  /** Time of the browser's steady clock at which the page's data was new. */
  let shownAt = performance.now();
  let show: PageListener['onView'] = () => undefined;

  /** Loads the page again when a state is new, because only the server knows everything that it shows. */
  async function learn(state: CheckoutState): Promise<void> {
    if (JSON.stringify(state) === JSON.stringify(view.state)) return;
    const page = await fetch(location.href, { cache: 'no-store', signal: AbortSignal.timeout(ANSWER_MS) });
    if (!page.ok) throw new PollFailure(page);
    const fresh = new DOMParser().parseFromString(await page.text(), 'text/html');
    // A page of another release may have data that this script does not know.
    if (scriptOf(fresh) !== scriptOf(document)) return location.reload();
    view = dataOf(fresh);
    shownAt = performance.now();
    document.title = fresh.title;
    show(view);
  }

  const session: FollowedSession = { checkout: opened.checkout, state: () => view.state, learn };
  return {
    session,
    follow(claims, { onView, onConnection }) {
      show = onView;
      const pace = () => paceOf(view, view.now + performance.now() - shownAt);
      poll({ session, claims, pace, texts }, onConnection);
    },
  };
}

interface PollDeps {
  readonly session: FollowedSession;
  readonly claims: Claims;
  readonly pace: () => PagePace;
  readonly texts: Texts;
}

async function poll(deps: PollDeps, onConnection: PageListener['onConnection']): Promise<never> {
  const { claims, pace } = deps;
  const asking = stateRequests(deps);
  const pause = pauseOfPage();
  for (;;) {
    const { pauseMs, connection } = await asking.round();
    onConnection(connection);
    await claims.keepClaiming();
    await pause(pace() === 'final' ? undefined : pauseMs);
  }
}

/** Pause until the next request, and what the payer should know of the connection. */
interface Round {
  readonly pauseMs: number;
  readonly connection: string;
}

function stateRequests({ session, claims, pace, texts }: PollDeps): { round(): Promise<Round> } {
  let etag = '';
  let failures = 0;
  /** Number of consecutive answers that came at once and brought nothing new. */
  let idle = 0;

  /**
   * Asks for the state. Returns true when it is new. In a hidden tab, and for a session that has ended, the request does
   * not wait for a change.
   */
  async function ask(): Promise<boolean> {
    const isHeld = etag !== '' && !document.hidden && !claims.hasUnclaimed() && pace() === 'open';
    const waitS = isHeld ? WAIT_S : 0;
    const { data, response } = await payerApi.GET('/api/v1/pay/sessions/{checkout_session_id}/status', {
      params: { path: pathOf(session), query: { wait: waitS } },
      headers: etag === '' ? {} : { 'If-None-Match': etag },
      signal: AbortSignal.timeout(waitS * 1_000 + ANSWER_MS),
    });
    if (response.status === 304) return false;
    if (data === undefined) throw new PollFailure(response);
    await session.learn(data);
    // Stored only after the state is shown, so that a failed one is requested again.
    etag = response.headers.get('ETag') ?? '';
    return true;
  }

  function pauseAfter(isNews: boolean, isHeld: boolean): number {
    if (pace() !== 'open') return ENDED_MS;
    if (document.hidden) return LONGEST_MS;
    idle = isNews || isHeld ? 0 : idle + 1;
    if (isNews) return CHANGED_MS;
    return isHeld ? 0 : Math.min(LONGEST_MS, SHORTEST_MS * 2 ** (idle - 1));
  }

  return {
    /** Never rejects. */
    async round() {
      const startedAt = performance.now();
      try {
        const isNews = await ask();
        failures = 0;
        return { pauseMs: pauseAfter(isNews, performance.now() - startedAt >= SHORTEST_MS), connection: '' };
      } catch (error) {
        failures += 1;
        const refusal = error instanceof PollFailure ? error : undefined;
        const doubledMs = Math.min(LONGEST_AFTER_FAILURE_MS, SHORTEST_MS * 2 ** failures);
        const pauseMs = refusal?.retryMs ?? doubledMs;
        return { pauseMs, connection: failureText(texts, { refusal, failures, pauseMs }) };
      }
    },
  };
}

/** Waits for a time, or until the payer returns to the page. Without a time only the return ends it. */
function pauseOfPage(): (ms: number | undefined) => Promise<void> {
  let end: () => void = () => undefined;
  document.addEventListener('visibilitychange', () => document.hidden || end());
  addEventListener('online', () => end());
  return ms =>
    new Promise(resolve => {
      end = resolve;
      if (ms !== undefined) setTimeout(resolve, ms);
    });
}

function failureText(
  { time }: Texts,
  {
    refusal,
    failures,
    pauseMs,
  }: { readonly refusal: PollFailure | undefined; readonly failures: number; readonly pauseMs: number },
): string {
  if (refusal?.status === 429) return time.manyRequests(Math.ceil(pauseMs / 1000));
  if (failures < FAILURES_BEFORE_NOTICE) return '';
  return refusal === undefined ? time.offline : time.broken;
}

/** Address of a page's module, which differs between releases. */
function scriptOf(page: Document): string | null | undefined {
  return page.querySelector('script[type=module]')?.getAttribute('src');
}

/** An answer of the server that cannot be shown. */
class PollFailure extends Error {
  readonly status: number;
  /** Pause requested by the server, in milliseconds. */
  readonly retryMs: number | undefined;

  constructor({ status, headers }: Response) {
    super(`status ${status}`);
    const seconds = Number(headers.get('Retry-After'));
    this.status = status;
    this.retryMs = seconds > 0 ? seconds * 1_000 : undefined;
  }
}
