import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { SelectField } from '#pages/browser/fields.ts';
import { Card } from '#pages/browser/layout.ts';
import { CopyButton } from '#pages/browser/reference.ts';
import { RECEIVERS } from './receivers.ts';

const LANGUAGES = RECEIVERS.map(({ language }) => [language, language] as const);

/** Instructions for verifying signatures. */
export function Verification(): VNode {
  const [language, setLanguage] = useState('Node');
  const receiver = RECEIVERS.find(one => one.language === language);
  return html`<${Card} title="Verify the signature of every request">
    <p>
      <code>X-Service-Signature</code> is the HMAC-SHA256 of the body’s bytes, as they came, in hex. The key is the whole
      secret, <code>whsec_</code> included. During a rotation, <code>X-Service-Signature-Previous</code> is the signature
      by the old secret.
    </p>
    <ul>
      <li>Every event arrives at least once, in no guaranteed order: <code>id</code> in the body identifies repetitions.</li>
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
