/** UTC milliseconds as the contract writes a moment: ISO 8601 with milliseconds and `Z` (Decision 95). */
export function timestamp(ms: number): string {
  return new Date(ms).toISOString();
}

/** The same for a moment that may not have come. */
export function timestampOrNull(ms: number | null): string | null {
  return ms === null ? null : timestamp(ms);
}
