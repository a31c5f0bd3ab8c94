import { createHmac, hash } from 'node:crypto'
import { loadOnce } from '../../canonical/load-once.ts'
import type { AwsAuth } from '../../config/auth.ts'

/* AWS signatures (docs.aws.amazon.com, "AWS Signature Version 4 for API requests", read on 2026-11-28). */

/** Keys of an AWS account. Temporary keys have a session token. */
export interface AwsKeys {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
}

/** A complete request to sign. */
export interface SignableRequest {
  readonly method: string
  readonly origin: string
  /** Path and query, exactly as sent. */
  readonly path: string
  readonly headers: { readonly [name: string]: string }
  /** Body, or undefined if it is streamed, because a streamed body is not signed. */
  readonly body: string | undefined
}

type SignedHeaders = SignableRequest['headers']

/** Signs requests for an AWS service in a region. */
export class AwsSigner {
  private readonly scope: Pick<AwsAuth, 'region' | 'service'>
  private keys: AwsKeys
  /** The parsed origin of the last request: a channel has one. */
  private lastOrigin: { readonly origin: string; readonly url: URL } | undefined

  constructor({ region, service }: Pick<AwsAuth, 'region' | 'service'>, keys: AwsKeys) {
    this.keys = keys
    this.scope = { region, service }
  }

  private readonly signer = loadOnce(async () => {
    const { SignatureV4 } = await import('@smithy/signature-v4')
    return new SignatureV4({ ...this.scope, sha256: Sha256, credentials: async () => this.keys })
  })

  /** Replaces the keys for all further signatures. */
  renew(keys: AwsKeys): void {
    this.keys = keys
  }

  private addressOf(origin: string): URL {
    if (this.lastOrigin?.origin !== origin) this.lastOrigin = { origin, url: new URL(origin) }
    return this.lastOrigin.url
  }

  /**
   * Returns the headers of a request including its signature.
   *
   * @param at the time of the signature. Now by default.
   */
  async sign({ method, origin, path, headers, body }: SignableRequest, at?: Date): Promise<SignedHeaders> {
    const { protocol, hostname, host } = this.addressOf(origin)
    const { pathname, query } = splitPath(path)
    const signer = await this.signer()
    const signedRequest = await signer.sign(
      {
        ...{ method, protocol, hostname, path: pathname, query },
        headers: { ...headers, host, 'x-amz-content-sha256': hashOf(body) },
      },
      {
        ...(at === undefined ? {} : { signingDate: at }),
        unsignableHeaders: unsignableIn(headers),
      },
    )
    return signedRequest.headers
  }
}

/** Returns the hash of a body as the signature states it. */
const hashOf = (body: string | undefined): string => (body === undefined ? 'UNSIGNED-PAYLOAD' : hash('sha256', body))

/** Headers that are not signed, because proxies may change them. */
const UNSIGNABLE = new Set([
  'accept-encoding',
  'user-agent',
  'traceparent',
  'tracestate',
  'content-length',
  'connection',
])

/** Matches characters whose bytes a server may read differently. */
const AMBIGUOUS = /[^\x20-\x7e]/

/** Returns the headers that are not signed, among them those with characters beyond ASCII and with tabs. */
function unsignableIn(headers: SignedHeaders): Set<string> {
  const foreign = Object.keys(headers).filter(name => AMBIGUOUS.test(headers[name]!))
  return foreign.length === 0 ? UNSIGNABLE : UNSIGNABLE.union(new Set(foreign))
}

/** Splits a path from its query. A repeated name in the query has a list of values. */
function splitPath(path: string): { readonly pathname: string; readonly query: { [name: string]: string | string[] } } {
  const mark = path.indexOf('?')
  if (mark < 0) return { pathname: path, query: {} }
  const query: { [name: string]: string | string[] } = {}
  const params = new URLSearchParams(path.slice(mark + 1))
  for (const name of new Set(params.keys())) {
    const values = params.getAll(name)
    query[name] = values.length === 1 ? values[0]! : values
  }
  return { pathname: path.slice(0, mark), query }
}

type Data = string | ArrayBuffer | ArrayBufferView

/** Adapter for Node's SHA-256 with the interface that the signer expects. Hashes all data at the end, in one call. */
class Sha256 {
  private readonly secret: Data | undefined
  private data: Uint8Array[] = []

  constructor(secret?: Data) {
    this.secret = secret
  }

  update(data: Data): void {
    this.data.push(typeof data === 'string' ? Buffer.from(data) : bytesOf(data))
  }

  async digest(): Promise<Uint8Array> {
    const data = this.data.length === 1 ? this.data[0]! : Buffer.concat(this.data)
    if (this.secret === undefined) return hash('sha256', data, 'buffer')
    const secret = typeof this.secret === 'string' ? this.secret : bytesOf(this.secret)
    return createHmac('sha256', secret).update(data).digest()
  }

  reset(): void {
    this.data = []
  }
}

const bytesOf = (data: ArrayBuffer | ArrayBufferView): Uint8Array =>
  data instanceof ArrayBuffer ? new Uint8Array(data) : new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
