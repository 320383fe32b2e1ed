/** Runs one load per key at a time; everybody who asks meanwhile gets its outcome. */
export function singleFlight<Value>(): (key: string, load: () => Promise<Value>) => Promise<Value> {
  const flying = new Map<string, Promise<Value>>();
  return (key, load) => {
    const current = flying.get(key);
    if (current !== undefined) return current;
    const started = load().finally(() => flying.delete(key));
    flying.set(key, started);
    return started;
  };
}
