/** Header fields as Node and the HTTP client give them: names in lower case. */
export interface Headers {
  readonly [name: string]: string | string[] | undefined
}

/** A header's value as one text; empty where there is none. */
export const single = (value: string | string[] | undefined): string =>
  Array.isArray(value) ? value.join(', ') : (value ?? '')

/** The same fields with one text each. */
export function flat(headers: Headers): { readonly [name: string]: string } {
  const out: Record<string, string> = {}
  for (const name in headers) if (headers[name] !== undefined) out[name] = single(headers[name])
  return out
}
