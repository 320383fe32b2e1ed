import { keepClaiming, untoldHash } from './claim.js';
import { revealButtons } from './copying.js';
import { showCountdown } from './countdown.js';
import { offerWallets } from './wallet-choice.js';

/** Longest time the server holds a request until the state changes, in seconds. */
const WAIT_S = 25;
const ANSWER_MS = 15_000;
/** Pauses between requests: after a change, and from the shortest to the longest where nothing was news. */
const CHANGED_MS = 1_000;
const SHORTEST_MS = 2_000;
const LONGEST_MS = 15_000;
const LONGEST_AFTER_FAILURE_MS = 30_000;
const FAILURES_BEFORE_TOLD = 3;

const statusPlace = document.getElementById('status');
/** The parts as the server wrote them, to see which have changed. */
const written = new Map();
let etag = '';
let knownText = '';
let failures = 0;
/** Answers in a row that came at once and brought nothing new. */
let idle = 0;
let endPause = () => undefined;

/** Keeps the page of a session up to date and lets wallets pay it. */
export function followSession() {
  const checkout = JSON.parse(document.querySelector('main').dataset.checkout);
  const path = `/api/v1/pay/sessions/${checkout.id}`;
  knownText = statusPlace.dataset.state;
  for (const part of liveParts(document)) written.set(part.id, part.innerHTML);
  const session = { checkout, path, state: () => JSON.parse(knownText), learn: text => learn(text) };

  document.addEventListener('visibilitychange', () => document.hidden || endPause());
  addEventListener('online', () => endPause());
  document.addEventListener('click', event => {
    if (event.target instanceof Element && event.target.closest('#print') !== null) print();
  });
  offerWallets(session);
  decorate();
  follow(session);
}

/** Asks for the state until it is final; then once more whenever the payer comes back. */
async function follow(session) {
  for (;;) {
    const pauseMs = await round(session);
    await keepClaiming(session);
    await pause(isFinal(session.state()) ? undefined : pauseMs);
  }
}

/** Asks once. Returns the pause until the next time; never rejects. */
async function round(session) {
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
    const retryMs = error.retryMs ?? Math.min(LONGEST_AFTER_FAILURE_MS, SHORTEST_MS * 2 ** failures);
    tellConnection(failureText(error, retryMs));
    return retryMs;
  }
}

/** Waits for a while, or until the payer comes back where no time is given. */
function pause(ms) {
  return new Promise(resolve => {
    endPause = resolve;
    if (ms !== undefined) setTimeout(resolve, ms);
  });
}

/** True when no payment of the session is awaited any more. */
function isFinal({ status, payment_status: payment }) {
  return status !== 'active' && payment !== 'confirming';
}

function tellConnection(text) {
  const place = document.getElementById('connection');
  if (place.textContent !== text) place.textContent = text;
}

function failureText({ status }, retryMs) {
  if (status === 429) {
    return `There were too many requests from your network. Your payment is not affected; this page asks again in ${Math.ceil(retryMs / 1000)} seconds.`;
  }
  if (failures < FAILURES_BEFORE_TOLD) return '';
  return status === undefined
    ? 'The connection is interrupted. Your payment is not affected; this page keeps trying.'
    : 'The server has a fault. Your payment is not affected; this page keeps trying.';
}

/** True when the server had another state than the one that is held. A hidden tab keeps no connection. */
async function ask(session) {
  const waits = etag !== '' && !document.hidden && untoldHash(session) === null;
  const waitS = waits ? WAIT_S : 0;
  const answer = await fetch(`${session.path}/status?wait=${waitS}`, {
    headers: etag === '' ? {} : { 'If-None-Match': etag },
    signal: AbortSignal.timeout(waitS * 1000 + ANSWER_MS),
  });
  if (answer.status === 304) return false;
  if (!answer.ok) throw refusal(answer);
  await learn(await answer.text());
  // Held only once it is shown: a state that could not be shown is asked for again.
  etag = answer.headers.get('ETag') ?? '';
  return true;
}

/** Takes a state, as the server wrote it, and shows it when it is new. */
async function learn(text) {
  if (text === knownText) return;
  const page = await fetch(location.href, { cache: 'no-store', signal: AbortSignal.timeout(ANSWER_MS) });
  if (!page.ok) throw refusal(page);
  show(new DOMParser().parseFromString(await page.text(), 'text/html'));
  knownText = text;
}

/** Replaces the parts that have changed. Words and order of every state come from the server. */
function show(fresh) {
  document.title = fresh.title;
  for (const part of liveParts(fresh)) {
    const place = document.getElementById(part.id);
    if (written.get(part.id) === part.innerHTML) continue;
    written.set(part.id, part.innerHTML);
    const hadFocus = place.contains(document.activeElement);
    place.replaceChildren(...part.childNodes);
    if (hadFocus) document.getElementById('payment').focus({ preventScroll: true });
    if (part.id === 'status') place.scrollIntoView({ block: 'nearest' });
  }
  decorate();
}

/** Adds what only a script can do to parts that came from the server. */
function decorate() {
  revealButtons();
  showCountdown(document.getElementById('left'));
  const print = document.getElementById('print');
  if (print !== null) print.hidden = false;
  const format = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
  for (const time of document.querySelectorAll('time[data-moment]')) {
    time.textContent = format.format(new Date(time.dateTime));
  }
  document.dispatchEvent(new Event('decorated'));
}

function liveParts(root) {
  return root.querySelectorAll('[data-live]');
}

function refusal(answer) {
  const seconds = Number(answer.headers.get('Retry-After'));
  const { status } = answer;
  return Object.assign(
    new Error(`status ${status}`),
    { status },
    seconds > 0 ? { retryMs: seconds * 1000 } : {},
  );
}
