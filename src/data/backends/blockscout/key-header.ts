/** Host of the paid gateway in front of many instances; its keys begin with the prefix. */
const GATEWAY_HOST = 'api.blockscout.com';
const GATEWAY_KEY = 'proapi_';

/** The header that carries an API key: in an address it would end up in logs and cursors. */
export function keyHeader(url: string, apiKey: string | undefined): Record<string, string> {
  if (apiKey === undefined) return {};
  const isGateway = new URL(url).hostname === GATEWAY_HOST || apiKey.startsWith(GATEWAY_KEY);
  return isGateway ? { authorization: `Bearer ${apiKey}` } : { 'x-api-key': apiKey };
}
