import type { KnownChain } from './known-chains.ts';

const CONFIRMATIONS = 12;

/**
 * A configuration file in YAML that serves the chains from Blockscout, in this order.
 * `pro` takes the paid gateway instead of the chains' own instances, and then BLOCKSCOUT_PRO_KEY has to be set.
 */
export function configFile(chains: readonly KnownChain[], { pro }: { pro: boolean }): string {
  return [
    '# Configuration of tollgate: real chains, served from Blockscout. Their order is the order of fallback.',
    '#',
    pro
      ? '#   BLOCKSCOUT_PRO_KEY=proapi_... tollgate start --config FILE'
      : '#   tollgate start --config FILE       FILE is the name of this file',
    '#',
    ...(pro ? GATEWAY_NOTES : INSTANCE_NOTES),
    `# confirmations: blocks until an answer is final. ${CONFIRMATIONS} for rollups, too: quicker blocks are not safer ones.`,
    `# Feeds and statistics are asked for again after ${pro ? 60 : 15} s (data.cache.moving); final records are kept for 24 h.`,
    '# Every other key, and its default, is in tollgate.example.yaml.',
    '',
    'chains:',
    ...chains.flatMap(chain => entry(chain, pro)),
    '',
  ].join('\n');
}

const GATEWAY_NOTES = [
  "# All of them are asked through Blockscout's paid gateway with the key in BLOCKSCOUT_PRO_KEY; it has to be set.",
];

const INSTANCE_NOTES = [
  '# The public instances need no key, but limit requests by address, and some belong to the chains themselves.',
  '# With BLOCKSCOUT_KEY set, the instances at blockscout.com are sent that key, and no others.',
];

// JSON's texts are YAML's double-quoted ones: a name stays text, whatever it holds.
function entry({ id, name, symbol, url, testnet, gateway }: KnownChain, pro: boolean): string[] {
  const backend = pro
    ? { url: `https://api.blockscout.com/${id}/api/v2`, apiKey: `\${BLOCKSCOUT_PRO_KEY}` }
    : { url, ...(isBlockscouts(url) ? { apiKey: `\${BLOCKSCOUT_KEY:-}` } : {}) };
  const apiKey = 'apiKey' in backend ? `, apiKey: ${JSON.stringify(backend.apiKey)}` : '';
  return [
    `  - id: ${id}`,
    `    name: ${JSON.stringify(name)}`,
    `    native: { symbol: ${JSON.stringify(symbol)}, decimals: 18 }`,
    `    confirmations: ${CONFIRMATIONS}`,
    `    testnet: ${testnet}`,
    '    backends:',
    ...(pro && !gateway ? ['      # The gateway was not documented to serve this chain in May 2026.'] : []),
    `      - { kind: blockscout, url: ${JSON.stringify(backend.url)}${apiKey} }`,
  ];
}

/** A key of Blockscout's is nobody else's business, and most of the other instances are the chains' own. */
function isBlockscouts(url: string): boolean {
  return new URL(url).hostname.endsWith('.blockscout.com');
}
