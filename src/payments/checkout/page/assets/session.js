import { keepClaiming } from './claim.js';
import { revealButtons } from './copying.js';
import { showCountdown } from './countdown.js';
import { offerWallets } from './wallet-choice.js';

const SEEN_MS = 2_000;
const HIDDEN_MS = 15_000;
const SLOWEST_MS = 30_000;
const FAILURES_BEFORE_TOLD = 3;

const statusPlace = document.getElementById('status');
/** The parts as the server wrote them, to see which have changed. */
const written = new Map();
let etag = '';
let knownText = '';
let failures = 0;
let timer = 0;

/** Keeps the page of a session up to date and lets wallets pay it. */
export function followSession() {
  const checkout = JSON.parse(document.querySelector('main').dataset.checkout);
  const path = `/api/v1/pay/sessions/${checkout.id}`;
  knownText = statusPlace.dataset.state;
  for (const part of liveParts(document)) written.set(part.id, part.innerHTML);
  const session = { checkout, path, state: () => JSON.parse(knownText), learn: text => learn(text) };

  const wake = () => {
    clearTimeout(timer);
    timer = setTimeout(() => round(session), 0);
  };
  document.addEventListener('visibilitychange', () => document.hidden || wake());
  addEventListener('online', wake);
  document.addEventListener('click', event => {
    if (event.target instanceof Element && event.target.closest('#print') !== null) print();
  });
  offerWallets(session);
  decorate();
  wake();
}

/** Asks once and arranges the next time. */
async function round(session) {
  clearTimeout(timer);
  const waitMs = await ask(session.path).then(
    () => {
      failures = 0;
      return document.hidden ? HIDDEN_MS : SEEN_MS;
    },
    error => {
      failures += 1;
      return error.retryMs ?? Math.min(SLOWEST_MS, SEEN_MS * 2 ** failures);
    },
  );
  const isTold = failures >= FAILURES_BEFORE_TOLD;
  document.getElementById('connection').textContent = isTold
    ? 'The connection is interrupted. Your payment is not affected; this page keeps trying.'
    : '';
  if (failures === 0) await keepClaiming(session);
  if (session.state().status === 'completed') return;
  clearTimeout(timer);
  timer = setTimeout(() => round(session), waitMs);
}

async function ask(path) {
  const answer = await fetch(`${path}/status`, { headers: etag === '' ? {} : { 'If-None-Match': etag } });
  if (answer.status === 304) return;
  if (!answer.ok) throw refusal(answer);
  const text = await answer.text();
  etag = answer.headers.get('ETag') ?? '';
  await learn(text);
}

/** Takes a state, as the server wrote it, and shows it when it is new. */
async function learn(text) {
  if (text === knownText) return;
  const page = await fetch(location.href, { cache: 'no-store' });
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
  return Object.assign(new Error(`status ${answer.status}`), seconds > 0 ? { retryMs: seconds * 1000 } : {});
}
