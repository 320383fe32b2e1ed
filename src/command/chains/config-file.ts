import type { KnownChain } from './known-chains.ts';

const CONFIRMATIONS = 12;

/**
 * Configuration file in YAML that serves the chains from Blockscout, in this order.
 * `pro` uses the paid gateway instead of the chains' own instances and requires BLOCKSCOUT_PRO_KEY.
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
    `# confirmations: blocks until an answer is final. ${CONFIRMATIONS} for rollups too: faster blocks are not safer ones.`,
    `# Feeds and statistics are fetched again after ${pro ? 60 : 15} s (data.cache.moving); final records are cached for 24 h.`,
    '# All other keys and their defaults are in tollgate.example.yaml.',
    '',
    'chains:',
    ...chains.flatMap(chain => entry(chain, pro)),
    '',
  ].join('\n');
}

const GATEWAY_NOTES = [
  "# All requests go through Blockscout's paid gateway with the key in BLOCKSCOUT_PRO_KEY, which has to be set.",
];

const INSTANCE_NOTES = [
  '# The public instances need no key, but limit requests per address. Some of them are run by the chains themselves.',
  '# When BLOCKSCOUT_KEY is set, only the instances at blockscout.com receive that key.',
  '# Blockscout has announced the end of the APIs of its own instances for July 2026. --pro writes what replaces them.',
];

// A JSON string is a valid double-quoted YAML string, so every name stays text.
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

/** True for an instance run by Blockscout. Other operators must not receive a Blockscout key. */
function isBlockscouts(url: string): boolean {
  return new URL(url).hostname.endsWith('.blockscout.com');
}
