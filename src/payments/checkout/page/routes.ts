import type { Context, Middleware } from 'koa';
import type { Db } from '../../../db/open.ts';
import { HttpError } from '../../../http/errors.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Seals } from '../../../lib/sealed.ts';
import { type PaymentChains, tokenOf } from '../../model/payment-chain.ts';
import { availabilityOf, type PaymentLink } from '../../model/payment-link.ts';
import { linkStore } from '../../store/link-store.ts';
import { organizationStore } from '../../store/organization-store.ts';
import { sessionStore } from '../../store/session-store.ts';
import { checkoutBody, checkoutState } from '../bodies.ts';
import { readAssets } from './assets.ts';
import { sendPage } from './headers.ts';
import { linkPage } from './link-page.ts';
import { BROKEN, CLOSED, NOT_FOUND, noticePage, UNAVAILABLE } from './notice-page.ts';
import { sessionPage } from './session-page.ts';
import { themeSheet } from './theme.ts';

/** What the pages are made from. */
export interface CheckoutPagesOptions {
  readonly db: Db;
  readonly seals: Seals;
  readonly clock: Clock;
  readonly chains: PaymentChains;
  /** The address payers use, without a slash at the end. */
  readonly publicUrl: string;
}

interface Page {
  readonly status: number;
  readonly text: string;
}

const LINK = /^\/pay\/([A-Za-z0-9_-]{4,32})$/;
const SESSION = /^\/pay\/s\/(cs_[0-9A-Za-z]{24})$/;
const THEME = /^\/pay\/theme\/([0-9a-f]{6})\.css$/;
/** Source: `clientReferenceId` of the contract. */
const REFERENCE = /^[A-Za-z0-9_.:-]{1,200}$/;

/**
 * What payers see: `GET /pay/{short_code}`, `GET /pay/s/{session_id}` and the files of both. Reading changes nothing.
 * A link that is not available is 410 and says why, and so is a session whose token was taken away; what does not exist
 * is a page with 404.
 */
export function checkoutPages({ db, seals, clock, chains, publicUrl }: CheckoutPagesOptions): Middleware {
  const assets = readAssets();
  const notFound = { status: 404, text: noticePage(assets, NOT_FOUND) };
  const closed = { status: 410, text: noticePage(assets, CLOSED) };
  const unavailable = { status: 410, text: noticePage(assets, UNAVAILABLE) };

  async function pageOfLink(code: string, reference: string | null): Promise<Page> {
    const link = await linkStore(db).findByShortCode(code);
    if (link === undefined) return notFound;
    const chain = chains.find(link.mode, link.chainId);
    const token = chain && tokenOf(chain, link.tokenAddress);
    if (token === undefined || chain === undefined) return unavailable;
    const availability = availabilityOf(link, clock.now());
    const merchantName = await merchantNameOf(link);
    return {
      status: availability === 'active' ? 200 : 410,
      text: linkPage(assets, {
        link,
        chain,
        token,
        merchantName,
        availability,
        clientReferenceId: reference,
      }),
    };
  }

  async function merchantNameOf(link: PaymentLink): Promise<string> {
    const organization = await organizationStore(db).find(link.organizationId);
    if (organization === undefined) throw new RangeError(`The organization of link ${link.id} is missing.`);
    return organization.name;
  }

  async function pageOfSession(id: string): Promise<Page> {
    const session = await sessionStore(db, seals).findById(id);
    if (session === undefined) return notFound;
    const chain = chains.all.find(({ id: chainId }) => chainId === session.chainId);
    if (chain === undefined || tokenOf(chain, session.tokenAddress) === undefined) return closed;
    const view = {
      checkout: checkoutBody(session, { chains, publicUrl }),
      state: checkoutState(session),
      isReorged: session.isReorged,
      now: clock.now(),
    };
    return { status: 200, text: sessionPage(assets, view) };
  }

  async function pageOf(ctx: Context): Promise<Page> {
    const [, code] = LINK.exec(ctx.path) ?? [];
    if (code !== undefined) return pageOfLink(code, referenceOf(ctx));
    const [, id] = SESSION.exec(ctx.path) ?? [];
    return id === undefined ? notFound : pageOfSession(id);
  }

  return async (ctx, next) => {
    if (ctx.path !== '/pay' && !ctx.path.startsWith('/pay/')) return next();
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') {
      throw new HttpError(405, `${ctx.method} is not allowed here`, { headers: { Allow: 'GET, HEAD' } });
    }
    if ((await assets.send(ctx, ctx.path)) || sendTheme(ctx)) return;
    try {
      const { status, text } = await pageOf(ctx);
      sendPage(ctx, status, text);
    } catch (error) {
      // A payer can read a page, but not the JSON that every other fault is told in.
      ctx.state.log().error({ err: error }, 'a page of the checkout could not be shown');
      sendPage(ctx, 500, noticePage(assets, BROKEN));
    }
  };
}

function sendTheme(ctx: Context): boolean {
  const sheet = themeSheet(THEME.exec(ctx.path)?.[1] ?? '');
  if (sheet === undefined) return false;
  ctx.set({
    'Content-Type': 'text/css; charset=utf-8',
    'Cache-Control': 'public, max-age=86400',
    'X-Content-Type-Options': 'nosniff',
  });
  ctx.body = sheet;
  return true;
}

/** The merchant's own id of the checkout, from the address that the payer followed (Decision 114). */
function referenceOf(ctx: Context): string | null {
  const { client_reference_id: given } = ctx.query;
  return typeof given === 'string' && REFERENCE.test(given) ? given : null;
}
