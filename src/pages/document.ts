import { createHash } from 'node:crypto';
import { html } from 'htm/preact';
import type { ComponentChildren } from 'preact';
import { render } from 'preact-render-to-string';
import type { Assets } from './assets.ts';
import { confineDirections } from './browser/text-direction.ts';

confineDirections();

/** Style sheets of every page, in order, before its own. */
export const BASE_STYLES = ['#pages/browser/tokens.css', '#pages/browser/base.css'] as const;

/** HTML document around a page's content. File names are those of `Assets`. */
export interface PageDocument {
  readonly title: string;
  /** Language of the page, and the direction in which it is written; English when absent. */
  readonly language?: { readonly code: string; readonly direction: 'ltr' | 'rtl' } | undefined;
  /** Sentence for search engines and previews of links; none when absent. */
  readonly description?: string | undefined;
  /** Path of the page without other spellings; none when absent. */
  readonly canonical?: string | undefined;
  readonly assets: Assets;
  /** Style sheet, by name. */
  readonly style: string;
  /** Module that runs in the page; undefined for none. */
  readonly script?: string | undefined;
  /** Additional elements of the head. */
  readonly head?: ComponentChildren;
  readonly body: ComponentChildren;
}

/** Renders a whole page as text. Preact escapes all inserted values. */
export function documentText(page: PageDocument): string {
  const { title, language, description, canonical, assets, style, script, head, body } = page;
  const document = html`<html lang=${language?.code ?? 'en'} dir=${language?.direction === 'rtl' ? 'rtl' : undefined}>
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <meta name="referrer" content="no-referrer" />
      <meta name="format-detection" content="telephone=no" />
      <title>${title}</title>
      ${description !== undefined && aboutTags(title, description)}
      ${canonical !== undefined && html`<link rel="canonical" href=${canonical} />`}
      <link rel="icon" type="image/svg+xml" href=${assets.path('#pages/browser/icon.svg')} />
      <link rel="stylesheet" href=${assets.path(style)} />
      <script type="importmap" dangerouslySetInnerHTML=${{ __html: assets.importMap }} />
      ${script !== undefined && moduleTags(assets, script)}
      ${head}
    </head>
    <body>${body}</body>
  </html>`;
  return `<!doctype html>\n${render(document)}\n`;
}

/**
 * Description of a page for search engines and previews of links. It has no picture and no address of this server, so
 * that it says nothing but what the path says.
 */
function aboutTags(title: string, description: string): ComponentChildren {
  return html`
    <meta name="description" content=${description} />
    <meta property="og:type" content="website" />
    <meta property="og:site_name" content="tollgate" />
    <meta property="og:title" content=${title} />
    <meta property="og:description" content=${description} />
  `;
}

function moduleTags(assets: Assets, script: string): ComponentChildren {
  return html`
    ${assets.scriptsOf(script).map(address => html`<link rel="modulepreload" href=${address} />`)}
    <script type="module" src=${assets.path(script)} />
  `;
}

/**
 * Headers of every page. All content comes from this server. The import map is the only inline script, allowed by its
 * hash. `images` are additional image sources.
 */
export function pageHeaders(assets: Assets, images = ''): Readonly<Record<string, string>> {
  const mapHash = createHash('sha256').update(assets.importMap).digest('base64');
  const policy = [
    "default-src 'none'",
    `script-src 'self' 'sha256-${mapHash}'`,
    "worker-src 'self'",
    "style-src 'self'",
    `img-src 'self' data:${images}`,
    "connect-src 'self'",
    "frame-ancestors 'none'",
    "form-action 'self'",
    "base-uri 'none'",
  ];
  return {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': policy.join('; '),
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
    'Cross-Origin-Opener-Policy': 'same-origin-allow-popups',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=()',
  };
}
