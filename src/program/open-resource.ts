interface Closable {
  close(): Promise<void>;
}

/**
 * Closes a resource together with the others. One that opens only after the process was told to stop is closed at once.
 * @throws when the process was told to stop: nothing else is to be opened
 */
export async function keepOpen(opened: Closable, resources: AsyncDisposableStack): Promise<void> {
  if (!resources.disposed) {
    resources.defer(() => opened.close());
    return;
  }
  await opened.close();
  throw new Error('the process was told to stop while it was starting');
}
