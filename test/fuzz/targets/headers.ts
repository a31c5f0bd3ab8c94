import { bytesOfSource, kindOfMediaType, sourceOfUrl, urlOfSource } from '../../../src/canonical/media/data-url.ts'
import { samplesOf } from '../../../src/canonical/media/wav.ts'
import { isObject, type JsonObject } from '../../../src/canonical/node.ts'
import { retryAfter } from '../../../src/canonical/retry-after.ts'
import { withoutAccounts, withoutAddresses, withoutKeys } from '../../../src/gateway/secrets.ts'
import { exhaustedSeconds } from '../../../src/upstreams/channel/rate-limit-headers.ts'
import { traceParent, traceState } from '../../../src/upstreams/channel/trace-context.ts'
import { Broken, expectSame, type Target } from '../target.ts'

/* Headers and addresses: short texts that are read with regular expressions. */

const NOW = Date.parse('2026-11-28T10:00:00Z')
const DAY = 86_400

/** Returns the fields of an input that are texts. */
const textsOf = (input: unknown): { readonly [name: string]: string } =>
  Object.fromEntries(
    Object.entries(isObject(input) ? (input as JsonObject) : {}).filter(
      (one): one is [string, string] => typeof one[1] === 'string',
    ),
  )

const RATE_LIMITS: Target = {
  name: 'header:rate-limits',
  inputs: 'headers of delays, quotas and traces',
  files: /^src\/(ingress\/errors\/classify|upstreams\/channel\/(rate-limit-headers|trace-context))/,
  seeds: () => [
    { 'retry-after': '5' },
    { 'retry-after': 'Sat, 28 Nov 2026 10:00:30 GMT', 'retry-after-ms': '250.5' },
    { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '1d2h6m0.5s20ms' },
    {
      'anthropic-ratelimit-input-tokens-remaining': '0',
      'anthropic-ratelimit-input-tokens-reset': '2026-11-28T10:01:00Z',
    },
    { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', tracestate: 'a=b,c@d=e' },
  ],
  run: (input, watch) => {
    const headers = textsOf(input)
    const delay = retryAfter(headers, NOW)
    if (delay !== undefined && !(delay >= 0 && delay <= DAY)) throw new Broken('delay', `is ${delay} s`)
    const quota = exhaustedSeconds(headers, NOW)
    if (quota !== undefined && !(quota > 0 && Number.isFinite(quota)))
      throw new Broken('quota', `is full in ${quota} s`)
    watch.returned(traceParent(headers['traceparent'] ?? ''))
    watch.returned(traceState(headers))
  },
}

const DATA_URLS: Target = {
  name: 'header:data-urls',
  inputs: 'URLs of media, many of them with data',
  files: /^src\/canonical\/media\/(data-url|wav)/,
  seeds: () => [
    'data:image/png;base64,iVBORw0KGgo=',
    'data:audio/pcm;rate=24000;base64,AAAA',
    'data:text/plain;charset=utf-8,hello%20there',
    'data:audio/wav;base64,UklGRiQAAABXQVZFZm10IBAAAAABAAEAgD4AAAB9AAACABAAZGF0YQAAAAA=',
    'https://example.org/a.png?b=c#d',
    'gs://bucket/a',
  ],
  run: (input, watch) => {
    if (typeof input !== 'string') return
    const source = sourceOfUrl(input)
    watch.returned(source)
    expectSame('round trip', urlOfSource(source), input)
    bytesOfSource(source)
    const type = 'mediaType' in source ? source.mediaType : undefined
    kindOfMediaType(type)
    const samples = type === undefined ? undefined : samplesOf(type)
    if (samples !== undefined && !(samples.rate > 0)) throw new Broken('rate', `is ${samples.rate}`)
  },
}

const SECRET_TEXTS: Target = {
  name: 'header:secrets',
  inputs: 'texts from which keys, accounts and addresses are removed',
  files: /^src\/gateway\/secrets/,
  seeds: () => [
    'Incorrect API key provided: sk-proj-abcdefgh1234567890. See https://platform.example.com/keys.',
    'authorization: Bearer abcdef1234567890, org-abcdefghijkl1234, http://user:pass@10.0.0.7:8080/v1',
    "connect ECONNREFUSED [::1]:4000, fe80::1, host 'llm.internal', 192.168.1.1:80, project 123456789012",
    `Name ".a.b.c.d.local" eyJhbGciOi.eyJzdWIiOiIx.abc AKIAABCDEFGHIJKLMNOP ${'xoxb'}-1234-5678-abcdefgh`,
  ],
  run: (input, watch) => {
    if (typeof input !== 'string') return
    const safe = withoutAddresses(withoutAccounts(withoutKeys(input)))
    watch.returned(safe)
    const [left] = INTERNAL.exec(safe) ?? []
    if (left !== undefined) throw new Broken('secret', `${left} is left`)
  },
}

/** Private addresses, as a whole word. */
const INTERNAL = /(?<![^\s"'(])(?:10|127|192\.168)(?:\.\d{1,2}){2,3}(?![^\s"'):])/

export const HEADERS: readonly Target[] = [RATE_LIMITS, DATA_URLS, SECRET_TEXTS]
