import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { Card } from '#pages/browser/layout.ts';

/** Entry points to the API for developers. */
const LINKS: readonly (readonly [href: string, name: string, purpose: string])[] = [
  ['/playground', 'Playground', 'Ask for blocks, transactions and events with filters, groups and sums.'],
  ['/docs', 'Reference', 'Every operation, to read and to try.'],
  ['/openapi.json', 'OpenAPI description', 'Generates a client in any language. YAML: /openapi.yaml.'],
  ['/chains', 'List of chains', 'Chains and back ends as JSON: what they can do, head and lag.'],
  ['/readyz', 'Readiness', 'For a load balancer: 200 while the service can answer.'],
];

/** Links to the reference, the API description and the operator's endpoints. */
export function Links(): VNode {
  return html`<${Card} title="Build with it">
    <ul class="plain grid">
      ${LINKS.map(
        ([href, name, purpose]) => html`<li key=${href}>
          <a href=${href}>${name}</a>
          <p class="small">${purpose}</p>
        </li>`,
      )}
      <li>
        Metrics
        <p class="small">
          ${'For Prometheus: '}<code>/metrics</code>${' on the operator’s listener ('}<code>admin.listen</code>${'), by default '}
          <code>127.0.0.1:3002</code>.
        </p>
      </li>
    </ul>
  <//>`;
}
