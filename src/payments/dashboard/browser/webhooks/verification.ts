import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { SelectField } from '#pages/browser/fields.ts';
import { Card } from '#pages/browser/layout.ts';
import { CopyButton } from '#pages/browser/reference.ts';
import { RECEIVERS } from './receivers.ts';

const LANGUAGES = RECEIVERS.map(({ language }) => [language, language] as const);

/** How a receiver tells what we sent from what anybody else sends. */
export function Verification(): VNode {
  const [language, setLanguage] = useState('Node');
  const receiver = RECEIVERS.find(one => one.language === language);
  return html`<${Card} title="Believe a request only after its signature">
    <p>
      <code>X-Service-Signature</code> is the HMAC-SHA256 of the body’s bytes, as they came, in hex. The key is the whole
      secret, <code>whsec_</code> included. While a rotation lasts, <code>X-Service-Signature-Previous</code> is what the
      old secret makes.
    </p>
    <ul>
      <li>Every event arrives at least once, in no promised order: <code>id</code> in the body tells repetitions.</li>
      <li>Answer 2xx within 30 seconds, and do the work afterwards.</li>
      <li>Anything else is tried again after 1 minute, 10 minutes and 1 hour.</li>
      <li>
        Libraries for Standard Webhooks work too, and also refuse requests that are old: <code>webhook-id</code>,${' '}
        <code>webhook-timestamp</code> and <code>webhook-signature</code> are there.
      </li>
    </ul>
    <${SelectField} label="Receiver in" param="language" value=${language} options=${LANGUAGES} onValue=${setLanguage} />
    ${
      receiver !== undefined &&
      html`<p class="reference">
          <code>WEBHOOK_SECRET=whsec_… ${receiver.start}</code>
          <${CopyButton} text=${receiver.code} label=${`Copy ${receiver.file}`} />
        </p>
        <pre tabindex="0">${receiver.code}</pre>`
    }
  <//>`;
}
