/** The body of every success of the webhooks and notifications. Document 3, "Endpoints". */
export function success<Data>(data: Data): { success: true; data: Data } {
  return { success: true, data };
}
