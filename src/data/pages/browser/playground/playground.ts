import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Awaited, Empty, useAnswer } from '#pages/browser/answer.ts';
import { h } from '#pages/browser/element.ts';
import { Card } from '#pages/browser/layout.ts';
import { setTitle, show } from '#pages/browser/show.ts';
import { api } from '../api.ts';
import type { Chain } from '../chains.ts';
import { Frame } from '../frame.ts';
import { Form } from './form.ts';
import { PRESETS } from './presets.ts';
import { missingIn, type Query, readQuery, searchOf } from './query.ts';
import { RequestText } from './request-text.ts';
import { Results } from './results.ts';

/** Page with a form for queries of document 2. The URL holds the form's values, so that it can be shared. */
function Playground(): VNode {
  const chains = useAnswer(signal => api.GET('/chains', { signal }));
  return h(Frame, {
    children: html`
      <h1>Playground</h1>
      <p>
        Query blocks, transactions and events of several chains at once: filter, group and count them. The URL of this
        page contains the whole query: share it. All parameters are in <a href="/docs">the reference</a>.
      </p>
      <nav class="row presets" aria-label="Examples">
        ${PRESETS.map(({ name, parameters }) => html`<a class="button" key=${name} href=${`?${new URLSearchParams(parameters)}`}>${name}</a>`)}
      </nav>
      ${h(Awaited<{ chains: readonly Chain[] }>, {
        loading: chains,
        children: ({ chains: all }) => h(Bench, { chains: all }),
      })}
    `,
  });
}

/** The form, its request and the answer. Typing updates the request at once, and `Run` updates the answer. */
function Bench({ chains }: { chains: readonly Chain[] }): VNode {
  const [query, setQuery] = useState(initialQuery);
  const [asked, setAsked] = useState(query);
  const [run, setRun] = useState(0);
  const missing = missingIn(asked);
  const ask = (next: Query) => {
    history.pushState(null, '', searchOf(next));
    setQuery(next);
    setAsked(next);
    setRun(run + 1);
  };
  useEffect(() => {
    const goBack = () => {
      const earlier = initialQuery();
      setQuery(earlier);
      setAsked(earlier);
    };
    addEventListener('popstate', goBack);
    return () => removeEventListener('popstate', goBack);
  }, []);
  return html`
    <div class="bench">
      ${h(Card, {
        title: 'Query',
        children: h(Form, {
          query,
          chains,
          change: (part: Partial<Query>) => setQuery({ ...query, page: 0, ...part }),
          run: () => ask(query),
        }),
      })}
      ${h(RequestText, { query })}
    </div>
    ${
      missing === undefined
        ? h(Results, { key: run, query: asked, turnTo: (page: number) => ask({ ...asked, page }) })
        : h(Card, {
            title: 'Result',
            children: h(Empty, { children: html`Fill in “${missing}” and press Run.` }),
          })
    }
  `;
}

/** Form values from the page's URL, or an example query when it has none. */
function initialQuery(): Query {
  return readQuery(location.search === '' ? '?kind=transactions&limit=10' : location.search);
}

setTitle('Playground');
show(Playground);
