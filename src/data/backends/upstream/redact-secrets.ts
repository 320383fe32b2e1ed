/** What is shorter occurs by chance. */
const MIN_SECRET = 4;

/** Takes secrets out of texts, however they are spelled there: upstreams repeat keys that they do not like. */
export function hiding(secrets: readonly string[]): (text: string) => string {
  const hidden = [...new Set(secrets.flatMap(spellings))]
    .filter(secret => secret.length >= MIN_SECRET)
    .sort((a, b) => b.length - a.length);
  return text => hidden.reduce((rest, secret) => rest.replaceAll(secret, '[hidden]'), text);
}

/** A secret as it is, without escapes, and with those of paths and of queries, in capitals and small letters. */
function spellings(secret: string): string[] {
  const plain = unescaped(secret);
  const escaped = [secret, plain].flatMap(text => [
    encodeURIComponent(text.toWellFormed()),
    new URLSearchParams([['', text]]).toString().slice(1),
  ]);
  const small = escaped.map(text => text.replace(/%[0-9A-F]{2}/g, byte => byte.toLowerCase()));
  return [secret, plain, ...escaped, ...small];
}

/** As it came where it has an escape that is none. */
export function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
