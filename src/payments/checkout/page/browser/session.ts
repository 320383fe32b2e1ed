import {
  ANSWER_MS,
  type CheckoutFacts,
  type CheckoutState,
  type FollowedSession,
  pathOf,
  payerApi,
} from './api.ts';
import { keepClaiming, untoldHash } from './claim.ts';
import { revealButtons, say } from './copying.ts';
import { offerWallets } from './wallet-choice.ts';

/** Longest time for which the server holds a request until the state changes, in seconds. */
const WAIT_S = 25;
/** Pauses between requests: after a change, and from the shortest to the longest while nothing changes. */
const CHANGED_MS = 1_000;
const SHORTEST_MS = 2_000;
const LONGEST_MS = 15_000;
const LONGEST_AFTER_FAILURE_MS = 30_000;
const FAILURES_BEFORE_NOTICE = 3;

/** Parts as the server rendered them, to find those that have changed. */
const written = new Map<string, string>();
let etag = '';
/** The state that the page shows, as JSON. */
let knownText = '';
let failures = 0;
/** Number of consecutive answers that came at once and brought nothing new. */
let idle = 0;
let endPause: () => void = () => undefined;

/** Keeps the page of a session up to date and lets wallets pay. */
export function followSession(main: HTMLElement): void {
  const checkout: CheckoutFacts = JSON.parse(main.dataset.checkout ?? '');
  knownText = document.getElementById('status')?.dataset.state ?? '';
  for (const part of liveParts(document)) written.set(part.id, part.innerHTML);
  const session: FollowedSession = { checkout, state: () => JSON.parse(knownText), learn };

  document.addEventListener('visibilitychange', () => document.hidden || endPause());
  addEventListener('online', () => endPause());
  document.addEventListener('click', ({ target }) => {
    if (target instanceof Element && target.closest('#print') !== null) print();
  });
  offerWallets(session);
  decorate();
  follow(session);
}

/** Polls the state until it is final, and after that whenever the payer returns to the page. */
async function follow(session: FollowedSession): Promise<never> {
  for (;;) {
    const pauseMs = await round(session);
    await keepClaiming(session);
    await pause(isFinal(session.state()) ? undefined : pauseMs);
  }
}

/** Polls once. Returns the pause until the next poll; never rejects. */
async function round(session: FollowedSession): Promise<number> {
  const startedAt = performance.now();
  try {
    const isNews = await ask(session);
    failures = 0;
    tellConnection('');
    if (document.hidden) return LONGEST_MS;
    if (isNews) idle = 0;
    if (isNews) return CHANGED_MS;
    const isHeld = performance.now() - startedAt >= SHORTEST_MS;
    idle = isHeld ? 0 : idle + 1;
    return isHeld ? 0 : Math.min(LONGEST_MS, SHORTEST_MS * 2 ** (idle - 1));
  } catch (error) {
    failures += 1;
    const refusal = error instanceof Refusal ? error : undefined;
    const retryMs = refusal?.retryMs ?? Math.min(LONGEST_AFTER_FAILURE_MS, SHORTEST_MS * 2 ** failures);
    tellConnection(failureText(refusal, retryMs));
    return retryMs;
  }
}

/** Waits for `ms`, or until the payer returns to the page. Without `ms` only the return ends it. */
function pause(ms: number | undefined): Promise<void> {
  return new Promise(resolve => {
    endPause = resolve;
    if (ms !== undefined) setTimeout(resolve, ms);
  });
}

/** True when no more payments of the session are expected. */
function isFinal({ status, payment_status: payment }: CheckoutState): boolean {
  return status !== 'active' && payment !== 'confirming';
}

function tellConnection(text: string): void {
  const element = document.getElementById('connection');
  if (element !== null && element.textContent !== text) element.textContent = text;
}

function failureText(refusal: Refusal | undefined, retryMs: number): string {
  if (refusal?.status === 429) {
    return `There were too many requests from your network. Your payment is not affected; this page asks again in ${Math.ceil(retryMs / 1000)} seconds.`;
  }
  if (failures < FAILURES_BEFORE_NOTICE) return '';
  return refusal === undefined
    ? 'The connection is interrupted. Your payment is not affected; this page keeps trying.'
    : 'The server reported an error. Your payment is not affected; this page keeps trying.';
}

/** Asks for the state. Returns true when it is new. In a hidden tab the request does not wait for a change. */
async function ask(session: FollowedSession): Promise<boolean> {
  const waits = etag !== '' && !document.hidden && untoldHash(session) === null;
  const waitS = waits ? WAIT_S : 0;
  const { data, response } = await payerApi.GET('/api/v1/pay/sessions/{checkout_session_id}/status', {
    params: { path: pathOf(session), query: { wait: waitS } },
    headers: etag === '' ? {} : { 'If-None-Match': etag },
    signal: AbortSignal.timeout(waitS * 1_000 + ANSWER_MS),
  });
  if (response.status === 304) return false;
  if (data === undefined) throw new Refusal(response);
  await learn(data);
  // Stored only after the state is shown, so that a failed one is requested again.
  etag = response.headers.get('ETag') ?? '';
  return true;
}

/** Shows a state when it is new. */
async function learn(state: CheckoutState): Promise<void> {
  const text = JSON.stringify(state);
  if (text === knownText) return;
  const page = await fetch(location.href, { cache: 'no-store', signal: AbortSignal.timeout(ANSWER_MS) });
  if (!page.ok) throw new Refusal(page);
  show(new DOMParser().parseFromString(await page.text(), 'text/html'));
  knownText = text;
}

/** Replaces the parts that have changed. All texts come from the server. */
function show(fresh: Document): void {
  document.title = fresh.title;
  for (const part of liveParts(fresh)) {
    const element = document.getElementById(part.id);
    if (element === null || written.get(part.id) === part.innerHTML) continue;
    written.set(part.id, part.innerHTML);
    const hadFocus = element.contains(document.activeElement);
    element.replaceChildren(...part.childNodes);
    if (hadFocus) document.getElementById('payment')?.focus({ preventScroll: true });
    if (part.id === 'status') element.scrollIntoView({ block: 'nearest' });
  }
  decorate();
}

/** Adds what only a script can do to parts from the server. */
function decorate(): void {
  revealButtons();
  showCountdown(document.getElementById('left'));
  const print = document.getElementById('print');
  if (print !== null) print.hidden = false;
  const format = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
  for (const time of document.querySelectorAll<HTMLTimeElement>('time[data-moment]')) {
    time.textContent = format.format(new Date(time.dateTime));
  }
  document.dispatchEvent(new Event('decorated'));
}

function liveParts(root: Document): NodeListOf<HTMLElement> {
  return root.querySelectorAll('[data-live]');
}

/** An answer of the server that cannot be shown. */
class Refusal extends Error {
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

const SECOND_MS = 1_000;
/** Minutes before the end that screen readers announce. */
const SAID = [5, 1];
const SOON_SECONDS = 120;

let timer: ReturnType<typeof setInterval> | undefined;

/**
 * Counts down in an element with `data-left-ms`. Uses the monotonic clock, because the date of this machine may be
 * wrong.
 */
function showCountdown(element: HTMLElement | null): void {
  clearInterval(timer);
  if (element === null) return;
  const end = performance.now() + Number(element.dataset.leftMs);
  let said = Number.POSITIVE_INFINITY;
  const tick = () => {
    const seconds = Math.max(0, Math.ceil((end - performance.now()) / SECOND_MS));
    element.textContent = clockText(seconds);
    element.classList.toggle('soon', seconds <= SOON_SECONDS);
    const minutes = SAID.find(one => seconds <= one * 60 && seconds > (one - 1) * 60 && one < said);
    if (minutes !== undefined) {
      said = minutes;
      say(`${minutes} ${minutes === 1 ? 'minute' : 'minutes'} left to pay`);
    }
    if (seconds === 0) clearInterval(timer);
  };
  tick();
  timer = setInterval(tick, SECOND_MS);
}

function clockText(seconds: number): string {
  const two = (number: number) => String(number).padStart(2, '0');
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  const rest = `${two(minutes)}:${two(seconds % 60)}`;
  return hours === 0 ? rest : `${hours}:${rest}`;
}
