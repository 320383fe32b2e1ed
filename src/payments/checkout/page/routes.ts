import type Router from '@koa/router';
import { html } from 'htm/preact';
import type { Context } from 'koa';
import type { Db } from '#db/open.ts';
import type { Client } from '#http/client-address.ts';
import { unavailableError } from '#http/errors.ts';
import { entityTag, uncompressed, withForm } from '#http/representation.ts';
import { chosenForm, namesTag, preferredCoding } from '#http/send.ts';
import type { Clock } from '#lib/clock.ts';
import { toJson } from '#lib/json.ts';
import { Unavailable } from '#lib/unavailable.ts';
import { VERSION } from '#lib/version.ts';
import { withoutForeignReaders } from '#pages/app-page.ts';
import type { Assets } from '#pages/assets.ts';
import { pageHeaders } from '#pages/document.ts';
import type { Texts, Words } from '#payments/browser/languages/en.ts';
import { textsFor } from '#payments/browser/languages/languages.ts';
import { type PaymentChains, tokenOf } from '#payments/model/payment-chain.ts';
import { availabilityOf, merchantOf, withContact } from '#payments/model/payment-link.ts';
import type { Seals } from '#payments/secrets/sealed.ts';
import { sessionStore } from '#payments/sessions/session-store.ts';
import { fullLinks } from '#payments/sessions/use-reservations.ts';
import { latestPayment } from '#payments/settlement/match.ts';
import { linkStore } from '#payments/store/link-store.ts';
import { organizationStore } from '#payments/store/organization-store.ts';
import { checkoutBody, type IsChainLate, shownState } from '../bodies.ts';
import { seesContracts } from '../proofs.ts';
import { paceOf, pageState, reservedUntil } from './browser/session/states.ts';
import { themeSheet } from './browser/theme.ts';
import { pageText, SCRIPTS } from './document.ts';
import { linkPage } from './link-page.ts';
import { sessionPage } from './session-page.ts';

/** Dependencies of the pages. */
interface CheckoutPagesOptions {
  /** Files that pages load, which are served by another route. */
  readonly assets: Assets;
  readonly db: Db;
  readonly seals: Seals;
  readonly clock: Clock;
  readonly chains: PaymentChains;
  /** Base URL for payers, without a slash at the end. */
  readonly publicUrl: string;
  readonly isChainLate: IsChainLate;
  /** Counts a page by the client that requests it. */
  readonly admit: (client: Client) => Promise<Admission>;
}

/** Result of counting a page: headers and, for a refused page, the seconds to wait. */
interface Admission {
  readonly headers: Readonly<Record<string, string>>;
  readonly waitSeconds: number | undefined;
}

// Regular expressions, because the router ignores the letter case and a final slash of paths given as text.
const BELOW = /^\/pay(?:\/|$)/;
const LINK = /^\/pay\/([A-Za-z0-9_-]{4,32})$/;
const SESSION = /^\/pay\/s\/(cs_[0-9A-Za-z]{24})$/;
const THEME = /^\/pay\/theme\/([0-9a-f]{6})\.css$/;
/** Source: `clientReferenceId` of the contract. */
const REFERENCE = /^[A-Za-z0-9_.:-]{1,200}$/;

/**
 * Registers the pages of payers: `GET /pay/{short_code}`, `GET /pay/s/{session_id}` and their theme colours. Reading
 * changes nothing. Pages are counted by address (Decision 105), files are not.
 * A link that is not available answers 410 with the reason, and so does a session whose token was removed. An unknown
 * address answers a page with 404.
 */
export function checkoutPages(router: Router, options: CheckoutPagesOptions): void {
  const { assets, db, seals, clock, chains, publicUrl, isChainLate, admit } = options;
  /**
   * The URL of a session is a secret, so pages are not stored and send no referrer. Images of merchants and wallets
   * come from other hosts.
   */
  const headers = {
    ...pageHeaders(assets, ' https:'),
    'Cache-Control': 'no-store',
    'X-Robots-Tag': 'noindex, nofollow',
  };
  /** Notices by their text, each rendered once. There are few, because a client waits at most 60 seconds. */
  const notices = new Map<string, Buffer>();
  const noticeText = (words: Words, texts: Texts): Buffer => {
    const ready = notices.get(words.text) ?? Buffer.from(noticePage(assets, words, texts));
    notices.set(words.text, ready);
    return ready;
  };
  const notice = (status: number, words: Words, texts: Texts) => ({
    status,
    render: () => noticeText(words, texts),
  });
  const notFound = (texts: Texts) => notice(404, texts.notices.notFound, texts);
  /** Tags include the release, which may change the pages. */
  const tagOf = (parts: object) => entityTag(toJson([VERSION, assets.path(SCRIPTS.session), parts]));

  async function pageOfLink(code: string, reference: string | null, texts: Texts): Promise<PageAnswer> {
    const link = await linkStore(db).findByShortCode(code);
    if (link === undefined) return notFound(texts);
    const chain = chains.find(link.mode, link.chainId);
    const token = chain && tokenOf(chain, link.tokenAddress);
    if (token === undefined || chain === undefined) return notice(410, texts.notices.unavailable, texts);
    const now = clock.now();
    const availability = availabilityOf(link, now);
    const organization = await organizationStore(db).profile(link);
    const merchant = withContact(merchantOf(link.branding, organization), organization);
    const mayBeFull = availability === 'active' && link.reserveUses;
    const nextUseAt = mayBeFull ? (await fullLinks(db, [link.id], { now })).get(link.id) : undefined;
    const view = { link, chain, token, merchant, availability, nextUseAt, clientReferenceId: reference };
    return {
      status: availability === 'active' ? 200 : 410,
      tag: tagOf({ ...view, language: texts.language }),
      render: () => linkPage({ assets, texts }, view),
    };
  }

  async function pageOfSession(id: string, texts: Texts): Promise<PageAnswer> {
    const session = await sessionStore(db, seals).findById(id);
    if (session === undefined) return notFound(texts);
    const chain = chains.all.find(({ id: chainId }) => chainId === session.chainId);
    if (chain === undefined || tokenOf(chain, session.tokenAddress) === undefined)
      return notice(410, texts.notices.closed, texts);
    const facts = {
      checkout: checkoutBody(session, {
        chains,
        publicUrl,
        contact: await organizationStore(db).profile(session),
      }),
      state: await shownState({ db, clock, isChainLate }, session.id),
      signedAddress: session.signedAddress,
      seesContracts: await seesContracts(db, session),
      recognisedUntil: latestPayment(session),
    };
    const view = { ...facts, now: clock.now() };
    return {
      status: 200,
      tag: tagOf({
        ...facts,
        language: texts.language,
        name: pageState(view),
        pace: paceOf(view, view.now),
        isReserved: reservedUntil(view) !== undefined,
      }),
      render: () => sessionPage({ assets, texts }, view, `${publicUrl}/pay/s/${id}`),
    };
  }

  /** Returns the handler of a counted page. It answers every request, so no later route runs. */
  const counted =
    (pageOf: (ctx: MatchedContext, texts: Texts) => PageAnswer | Promise<PageAnswer>) =>
    async (ctx: MatchedContext) => {
      const texts = textsFor(languagesOf(ctx));
      try {
        const { headers: counts, waitSeconds } = await admit(ctx.state.client);
        ctx.set({ ...headers, ...counts });
        await sendPage(
          ctx,
          waitSeconds === undefined
            ? await pageOf(ctx, texts)
            : notice(429, texts.notices.manyPages(waitSeconds), texts),
        );
      } catch (error) {
        // Payers get a page and not the JSON that other routes answer with.
        ctx.state.log().error({ err: error }, 'a page of the checkout could not be shown');
        const away = error instanceof Unavailable ? unavailableError(error) : undefined;
        ctx.set({ ...headers, ...away?.headers });
        await sendPage(ctx, notice(away?.status ?? 500, texts.notices.broken, texts));
      }
    };
  const link = counted((ctx, texts) => pageOfLink(nameIn(ctx), referenceOf(ctx), texts));
  const session = counted((ctx, texts) => pageOfSession(nameIn(ctx), texts));
  const unknown = counted((_, texts) => notFound(texts));

  router.all(THEME, (ctx, next) => (sendTheme(ctx) ? undefined : next()));
  router.all(LINK, link).all(SESSION, session).all(BELOW, unknown);
}

/** A request and the captures of its route's pattern. */
type MatchedContext = Context & { readonly captures?: readonly string[] };

function nameIn({ captures }: MatchedContext): string {
  return captures?.[0] ?? '';
}

/** Languages of the reader, the preferred one first: `lang` of the address before those of the browser. */
function languagesOf(ctx: Context): string[] {
  const { lang } = ctx.query;
  return [...(typeof lang === 'string' ? [lang] : []), ...ctx.acceptsLanguages()];
}

function sendTheme(ctx: MatchedContext): boolean {
  const sheet = themeSheet(nameIn(ctx));
  if (sheet === undefined) return false;
  ctx.set({
    'Content-Type': 'text/css; charset=utf-8',
    'Cache-Control': 'public, max-age=86400',
    'X-Content-Type-Options': 'nosniff',
  });
  ctx.body = sheet;
  return true;
}

/** The merchant's own id of the checkout, from the URL that the payer opened (Decision 114). */
function referenceOf(ctx: Context): string | null {
  const { client_reference_id: given } = ctx.query;
  return typeof given === 'string' && REFERENCE.test(given) ? given : null;
}

/** A page that is not rendered yet. */
interface PageAnswer {
  readonly status: number;
  /** Quoted tag of the page's data except the time; absent for a notice. */
  readonly tag?: string;
  readonly render: () => string | Buffer;
}

/**
 * Answers with a page, compressed, because its data repeats its content. When the client has the page, answers 304
 * without rendering it.
 */
async function sendPage(ctx: Context, { status, tag, render }: PageAnswer): Promise<void> {
  withoutForeignReaders(ctx);
  const isHeld = status === 200 && tag !== undefined && namesTag(ctx.req.headers['if-none-match'], tag);
  const accepted = ctx.req.headers['accept-encoding'];
  const form = isHeld
    ? undefined
    : chosenForm(accepted, await withForm(uncompressed(render()), preferredCoding(accepted)));
  // Weak, because the remaining time in a page changes every second.
  if (tag !== undefined) ctx.set('ETag', `W/${tag}`);
  ctx.vary('Accept-Encoding');
  ctx.vary('Accept-Language');
  if (form !== undefined && form.coding !== 'identity') ctx.set('Content-Encoding', form.coding);
  ctx.body = form?.bytes ?? null;
  ctx.status = isHeld ? 304 : status;
}

/** Page with a short explanation and without a payment. */
function noticePage(assets: Assets, { title, text }: Words, texts: Texts): string {
  return pageText(
    { title, texts, assets, themeColor: null, isTest: false },
    html`<main class="notice" id="payment"><h1>${title}</h1><p>${text}</p></main>`,
  );
}
