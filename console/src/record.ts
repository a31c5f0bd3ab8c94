/** An object of JSON. */
export type JsonRecord = { readonly [field: string]: unknown }

/** Returns true for an object of JSON, which is neither a list nor null. */
export const isRecord = (value: unknown): value is JsonRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
