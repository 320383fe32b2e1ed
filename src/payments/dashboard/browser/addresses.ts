const ROOT = '/dashboard';
const SIGN_IN = `${ROOT}/sign-in`;

/** URLs of the dashboard's pages. */
export const dashboard = {
  overview: ROOT,
  payments: `${ROOT}/payments`,
  unmatched: `${ROOT}/unmatched`,
  totals: `${ROOT}/totals`,
  events: `${ROOT}/events`,
  payment: (sessionId: string) => `${ROOT}/payments/${encodeURIComponent(sessionId)}`,
  event: (eventId: string) => `${ROOT}/events?id=${encodeURIComponent(eventId)}`,
  refunds: `${ROOT}/refunds`,
  refund: (refundId: string) => `${ROOT}/refunds/${encodeURIComponent(refundId)}`,
  newRefund: (money: Readonly<Record<string, string>>) => `${ROOT}/refunds/new?${new URLSearchParams(money)}`,
  deposits: `${ROOT}/deposit-addresses`,
  customers: `${ROOT}/customers`,
  customer: (customerId: string) => `${ROOT}/customers/${encodeURIComponent(customerId)}`,
  links: `${ROOT}/links`,
  newLink: `${ROOT}/links/new`,
  link: (linkId: string) => `${ROOT}/links/${encodeURIComponent(linkId)}`,
  webhooks: `${ROOT}/webhooks`,
  keys: `${ROOT}/keys`,
  notifications: `${ROOT}/notifications`,
  organization: `${ROOT}/organization`,
  auditLog: `${ROOT}/audit-log`,
  webhook: (webhookId: string) => `${ROOT}/webhooks/${encodeURIComponent(webhookId)}`,
  delivery: (webhookId: string, deliveryId: string) =>
    `${ROOT}/webhooks/${encodeURIComponent(webhookId)}?${new URLSearchParams({ delivery: deliveryId })}`,
  people: `${ROOT}/people`,
  account: `${ROOT}/account`,
  /** `to` is the page to open after signing in. */
  signIn: (to?: string) => (to === undefined ? SIGN_IN : `${SIGN_IN}?${new URLSearchParams({ to })}`),
} as const;

/** Page to open after signing in: the dashboard page in `to` of the URL, else the overview. */
export function returnAddress(): string {
  const to = URL.parse(new URLSearchParams(location.search).get('to') ?? ROOT, location.origin);
  const isPage =
    to?.origin === location.origin &&
    (to.pathname === ROOT || to.pathname.startsWith(`${ROOT}/`)) &&
    to.pathname !== SIGN_IN;
  return to !== null && isPage ? `${to.pathname}${to.search}` : ROOT;
}

const TOKEN = /^#token=([\w-]+)$/;

/** True when the URL's fragment holds a one-time token. */
export function hasToken(): boolean {
  return TOKEN.test(location.hash);
}

/** Returns the one-time token of the URL's fragment, and removes it from the address bar and the history at once. */
export function takeToken(): string | undefined {
  const [, token] = TOKEN.exec(location.hash) ?? [];
  if (token !== undefined) history.replaceState(null, '', `${location.pathname}${location.search}`);
  return token;
}

/** Id of the shown record, which is the last segment of the page's path. */
export function shownId(): string {
  return decodeURIComponent(location.pathname.split('/').at(-1) ?? '');
}
