/** What is shorter occurs by chance. */
const MIN_SECRET = 4;

/** Takes secrets out of texts: upstreams repeat keys that they do not like. */
export function hiding(secrets: readonly string[]): (text: string) => string {
  const hidden = secrets.filter(secret => secret.length >= MIN_SECRET).sort((a, b) => b.length - a.length);
  return text => hidden.reduce((rest, secret) => rest.replaceAll(secret, '[hidden]'), text);
}
