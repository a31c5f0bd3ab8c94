/** What of a request may carry a credential; names of headers in lower case, as Node gives them. */
export interface Credentials {
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined }
  /** The value of `?key=`, where there is one. */
  readonly queryKey?: string
}

const BEARER = /^bearer\s+(\S+)\s*$/i

/** How OpenAI's realtime clients in browsers, which cannot set headers, name their key among the subprotocols. */
const SUBPROTOCOL = /(?:^|,)\s*openai-insecure-api-key\.([^,\s]+)/

/** The key a request shows: the first of the places real clients put it in. */
export function credentialOf({ headers, queryKey }: Credentials): string | undefined {
  return (
    BEARER.exec(text(headers['authorization']))?.[1] ||
    text(headers['x-api-key']).trim() ||
    text(headers['x-goog-api-key']).trim() ||
    queryKey ||
    SUBPROTOCOL.exec(text(headers['sec-websocket-protocol']))?.[1] ||
    undefined
  )
}

const text = (value: string | readonly string[] | undefined): string =>
  typeof value === 'string' ? value : (value?.[0] ?? '')
