import { createHash, createHmac } from 'node:crypto'

/* A verifier of AWS signatures, written from AWS's description alone ("Create a signed AWS API request",
   docs.aws.amazon.com, read on 2026-11-28). */

export interface Received {
  readonly method: string
  readonly url: string
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined }
  readonly text: string
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()

/** Encodes every byte but the unreserved characters. */
const escaped = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, char => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)

const canonicalQuery = (query: string): string =>
  [...new URLSearchParams(query)]
    .map(([name, value]) => [escaped(name), escaped(value)] as const)
    .sort(([a, x], [b, y]) => (a < b ? -1 : a > b ? 1 : x < y ? -1 : 1))
    .map(pair => pair.join('='))
    .join('&')

/** Returns why a request is not signed with the secret; undefined if it is. */
export function signatureFault(request: Received, secretOf: (accessKey: string) => string | undefined) {
  const header = (name: string): string => [request.headers[name] ?? ''].flat().join(',').trim().replaceAll(/ +/g, ' ')
  const match =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      header('authorization'),
    )
  if (match === null) return 'no signature'
  const [, accessKey, day, region, service, names, signature] = match as unknown as string[]
  const secret = secretOf(accessKey!)
  if (secret === undefined) return 'unknown access key'
  const date = header('x-amz-date')
  if (!date.startsWith(day!)) return 'another day'
  const signed = names!.split(';')
  if (!signed.includes('host')) return 'the host is not signed'
  const unsigned = Object.keys(request.headers).filter(name => name.startsWith('x-amz-') && !signed.includes(name))
  if (unsigned.length > 0) return `unsigned: ${unsigned}`
  const hash = sha256(request.text)
  const stated = header('x-amz-content-sha256')
  if (stated !== '' && stated !== hash && stated !== 'UNSIGNED-PAYLOAD') return 'another body'
  const [path, query = ''] = request.url.split('?') as [string, string?]
  const canonical = [
    request.method,
    path.split('/').map(escaped).join('/'),
    canonicalQuery(query),
    ...signed.map(name => `${name}:${header(name)}`),
    '',
    names,
    stated === '' ? hash : stated,
  ].join('\n')
  const scope = `${day}/${region}/${service}/aws4_request`
  const text = ['AWS4-HMAC-SHA256', date, scope, sha256(canonical)].join('\n')
  const key = [day!, region!, service!, 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${secret}`)
  return hmac(key, text).toString('hex') === signature ? undefined : `another signature for\n${canonical}`
}
