import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { clipped } from '#pages/browser/reference.ts';
import { dashboard } from './addresses.ts';
import { openPage } from './frame.ts';

const PATH_CHARACTERS = 120;

/** Notice for an unknown path below `/dashboard`, with a link to the overview. */
function Missing(): VNode {
  return html`
    <h1>Page not found</h1>
    <p>The dashboard has no page at <code>${clipped(location.pathname, PATH_CHARACTERS)}</code>.</p>
    <div class="row"><a class="button primary" href=${dashboard.overview}>Overview</a></div>
  `;
}

openPage('Not found', Missing);
