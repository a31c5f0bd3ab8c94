/** The parts of a request that may carry a credential; names of headers in lower case, as in Node. */
export interface Credentials {
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined }
  /** The value of `?key=`, where there is one. */
  readonly queryKey?: string
}

const BEARER = /^bearer\s+(\S+)\s*$/i

/** The subprotocol in which OpenAI's realtime clients in browsers send their key, as they cannot set headers. */
const SUBPROTOCOL = /(?:^|,)\s*openai-insecure-api-key\.([^,\s]+)/

/** A request's key: the first of the places where real clients put it. */
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
