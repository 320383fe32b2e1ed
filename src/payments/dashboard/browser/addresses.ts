const ROOT = '/dashboard';
const SIGN_IN = `${ROOT}/sign-in`;

/** Addresses of the dashboard's pages. */
export const dashboard = {
  overview: ROOT,
  payments: `${ROOT}/payments`,
  unmatched: `${ROOT}/unmatched`,
  events: `${ROOT}/events`,
  payment: (sessionId: string) => `${ROOT}/payments/${encodeURIComponent(sessionId)}`,
  event: (eventId: string) => `${ROOT}/events?id=${encodeURIComponent(eventId)}`,
  links: `${ROOT}/links`,
  newLink: `${ROOT}/links/new`,
  link: (linkId: string) => `${ROOT}/links/${encodeURIComponent(linkId)}`,
  webhooks: `${ROOT}/webhooks`,
  keys: `${ROOT}/keys`,
  notifications: `${ROOT}/notifications`,
  organization: `${ROOT}/organization`,
  webhook: (webhookId: string) => `${ROOT}/webhooks/${encodeURIComponent(webhookId)}`,
  delivery: (webhookId: string, deliveryId: string) =>
    `${ROOT}/webhooks/${encodeURIComponent(webhookId)}?${new URLSearchParams({ delivery: deliveryId })}`,
  /** `to` is where the way leads after signing in. */
  signIn: (to?: string) => (to === undefined ? SIGN_IN : `${SIGN_IN}?${new URLSearchParams({ to })}`),
} as const;

/** Where the way leads after signing in: a page of the dashboard that the address names, else the overview. */
export function returnAddress(): string {
  const to = URL.parse(new URLSearchParams(location.search).get('to') ?? ROOT, location.origin);
  const isPage =
    to?.origin === location.origin &&
    (to.pathname === ROOT || to.pathname.startsWith(`${ROOT}/`)) &&
    to.pathname !== SIGN_IN;
  return to !== null && isPage ? `${to.pathname}${to.search}` : ROOT;
}

const TOKEN = /^#token=([\w-]+)$/;

/** True when a one-time token is behind the `#` of the address. */
export function hasToken(): boolean {
  return TOKEN.test(location.hash);
}

/** The one-time token behind the `#` of the address, which is removed from the address bar and the history at once. */
export function takeToken(): string | undefined {
  const [, token] = TOKEN.exec(location.hash) ?? [];
  if (token !== undefined) history.replaceState(null, '', `${location.pathname}${location.search}`);
  return token;
}

/** The last part of the page's path: the id of what it shows. */
export function shownId(): string {
  return decodeURIComponent(location.pathname.split('/').at(-1) ?? '');
}
