import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { ChannelConfig } from '../../src/config/index.ts'
import { withoutAddresses, withoutKeys } from '../../src/gateway/secrets.ts'
import { ANSWER, ASK, HEAD, STREAM, words } from '../builders/chat.ts'
import { channelAt, type TestServerOptions } from '../builders/config.ts'
import type { TestServer } from '../builders/gateway.ts'
import { VERSION_HEADERS } from '../builders/http.ts'
import { opener } from '../builders/opener.ts'
import { TIMED, until } from '../builders/time.ts'
import type { Script } from '../builders/upstream.ts'
import { WireUpstream } from '../builders/wire-upstream.ts'
import { UPSTREAMS } from '../clients/upstreams/index.ts'
import { Client } from '../sockets/client.ts'

const { closing, open: openBefore, openGateway } = opener()

const OWN = 'upstream-key-1234-and-"more"'
const FIXED = 'fixed-header-credential'
const QUERY = 'query/credential=='
/** Texts that may appear only between the gateway and the upstream. */
const KEYS = [
  OWN,
  encodeURIComponent(OWN),
  JSON.stringify(OWN).slice(1, -1),
  'upstream-key', // the beginning, as a masked key shows it
  FIXED,
  QUERY,
  encodeURIComponent(QUERY),
  Buffer.from(OWN).toString('base64'),
  'sk-ant-api03-abcdefghij0123456789',
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc',
]
/** Texts that only the operator may read. */
const INSIDE = [
  'secret-channel',
  'upstream-model',
  '10.1.2.3',
  '192.168.7.8',
  'fd12:3456::1',
  'vllm-7.svc.cluster.local',
  'redis:6379',
]

/** An operator's name is removed only in quotes, and a host without a dot only where a host is expected. */
const SAID: { readonly [name: string]: string } = {
  'redis:6379': 'http://redis:6379/0',
  'secret-channel': '"secret-channel"',
  'upstream-model': '`upstream-model`',
}

const said = (host: string): string =>
  [...KEYS, 'upstream-key-1****', ...INSIDE.map(one => SAID[one] ?? one), `http://${host}/v1`].join(' , ')

/** An error that reveals a secret in each field. */
const errorOf = (host: string, kind: object = {}) => {
  const text = said(host)
  const fields = {
    message: text,
    type: text,
    param: text,
    code: text,
    status: text,
    metadata: { raw: text, code: text },
    ...kind,
  }
  return {
    ...fields,
    error: {
      ...fields,
      details: [{ error_code: text, reason: text, metadata: { code: text }, fieldViolations: [{ field: text }] }],
    },
  }
}

const CHANNEL: Partial<ChannelConfig> = {
  key: OWN,
  models: { named: new Map([['m', 'upstream-model']]), patterns: [] },
}

async function open(script: Script, format = 'chat', options: TestServerOptions = {}) {
  const fields = { format, headers: { 'x-team': FIXED }, query: { sig: QUERY }, ...CHANNEL }
  const { testServer, upstream } = await openBefore(script, options, fields)
  return { testServer, upstream, host: new URL(upstream.address).host }
}

const tells = (text: string, secrets: readonly string[]): string[] =>
  secrets.filter(secret => text.toLowerCase().includes(secret.toLowerCase()))

function expectNothingOf(testServer: TestServer, host: string, answer: string): void {
  expect(tells(answer, [...KEYS, ...INSIDE, host])).toEqual([])
  expect(tells(JSON.stringify(testServer.lines), KEYS)).toEqual([])
}

const DOORS: readonly (readonly [path: string, body: object])[] = [
  ['/v1/chat/completions', ASK],
  ['/v1/messages', { ...ASK, max_tokens: 9 }],
  ['/v1/responses', { model: 'm', input: 'Say hello.' }],
  ['/v1beta/models/m:generateContent', { contents: [{ role: 'user', parts: [{ text: 'Say hello.' }] }] }],
]
/** The events of a streamed answer up to its first text. */
function beginningOf(format: string): readonly string[] {
  const frames = UPSTREAMS[format]!.frames({ text: 'Hello' })
  return frames.slice(0, frames.findIndex(frame => frame.includes('He')) + 1)
}

const FORMATS = ['chat', 'messages', 'responses', 'contents']
const streamedAt = (path: string): string => path.replace(':generateContent', ':streamGenerateContent?alt=sse')

describe.each(FORMATS)('an error of an upstream of %s tells nobody its secrets', format => {
  test.each([400, 404, 429, 500, 503])('with status %s', async status => {
    const { testServer, host } = await open((response, { headers }) => {
      const text = said(headers.host!)
      const limits = { 'x-ratelimit-reset': text, 'anthropic-ratelimit-requests-limit': text, 'x-request-id': text }
      response.writeHead(status, { 'content-type': 'application/json', ...limits })
      response.end(JSON.stringify(errorOf(headers.host!)))
    }, format)
    for (const [path, body] of DOORS)
      for (const stream of [false, true]) {
        const asked = stream
          ? await testServer.ask(streamedAt(path), { ...body, stream }, VERSION_HEADERS)
          : await testServer.ask(path, body, VERSION_HEADERS)
        expect(asked.status).toBeGreaterThanOrEqual(path.includes('responses') && stream ? 200 : 400)
        expectNothingOf(testServer, host, JSON.stringify(asked.headers) + asked.text)
      }
  })

  test.each([{}, { type: 'internal_error' }, { type: 'error', code: 'cancelled' }])(
    'under status 200, as %j',
    async kind => {
      const { testServer, host } = await open((response, { headers }) => {
        const failed = {
          ...errorOf(headers.host!, kind),
          ...(format === 'responses' ? { status: 'failed', output: [] } : {}),
        }
        response.writeHead(200, { 'content-type': 'application/json', 'x-ratelimit-reset': said(headers.host!) })
        response.end(JSON.stringify(failed))
      }, format)
      for (const [path, body] of DOORS) {
        const { status, text, headers } = await testServer.ask(path, body, VERSION_HEADERS)
        expect(status).toBeGreaterThanOrEqual(400)
        expectNothingOf(testServer, host, JSON.stringify(headers) + text)
      }
    },
  )

  test('in the middle of a stream', async () => {
    const begun = beginningOf(format)
    const { testServer, host } = await open((response, { headers }) => {
      const error = errorOf(headers.host!, { type: 'error' })
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(begun.join(''))
      response.end(`event: error\ndata: ${JSON.stringify(error)}\n\n`)
    }, format)
    for (const [path, body] of DOORS) {
      const { status, text } = await testServer.ask(streamedAt(path), { ...body, stream: true }, VERSION_HEADERS)
      expect([path, status, text.includes('error')]).toEqual([path, 200, true])
      expectNothingOf(testServer, host, text)
    }
  })
})

describe('nor', () => {
  const beside = (host: string) => ({
    ...ANSWER,
    error: errorOf(host).error,
    choices: [{ ...ANSWER.choices[0], error: errorOf(host).error }],
  })

  test('beside an answer that stands', async () => {
    const { testServer, host } = await open((response, { headers }) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(beside(headers.host!))),
    )
    const { status, text } = await testServer.ask('/v1/chat/completions', ASK)
    expect(status).toBe(200)
    expectNothingOf(testServer, host, text)
    const last = await open((response, { headers }) => {
      const choices = [{ index: 0, delta: {}, finish_reason: 'error', error: errorOf(headers.host!).error }]
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(`${HEAD}${words('Hello.')}data: ${JSON.stringify({ choices })}\n\ndata: [DONE]\n\n`)
    })
    expectNothingOf(last.testServer, last.host, (await last.testServer.ask('/v1/chat/completions', STREAM)).text)
  })

  test('in the log, where a whole answer ends with an error', async () => {
    const { testServer, host } = await open((response, { headers }) => {
      const output = [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hel' }] }]
      const { error } = errorOf(headers.host!)
      const failed = { id: 'r', object: 'response', status: 'failed', output, error }
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(failed))
    }, 'responses')
    const { text } = await testServer.ask('/v1/responses', { model: 'm', input: 'Hi' })
    expect(text).toContain('Hel')
    await until(() => testServer.lines.some(({ message }) => message === 'request'))
    expect(testServer.lines.at(-1)!.fields).toMatchObject({ code: expect.any(String) })
    expectNothingOf(testServer, host, text)
  })

  test('in what is kept of a response, and over a socket', async () => {
    const keep = mkdtempSync(join(tmpdir(), 'interlingua-secrets-'))
    closing.push(() => rmSync(keep, { recursive: true }))
    const { testServer, host } = await open(
      (response, { headers }) => {
        const begun = beginningOf('responses')
        const error = errorOf(headers.host!, { type: 'error' })
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write(begun.join(''))
        response.end(`event: error\ndata: ${JSON.stringify(error)}\n\n`)
      },
      'responses',
      { keep },
    )
    const { text } = await testServer.ask('/v1/responses', { model: 'm', input: 'Hi', stream: true })
    const id = /"id":"(resp_[^"]+)"/.exec(text)![1]
    const kept = await testServer.ask(`/v1/responses/${id}`, undefined, { method: 'GET' })
    expect(kept.json.status).toBe('failed')
    expectNothingOf(testServer, host, kept.text)
    const { id: later } = (await testServer.ask('/v1/responses', { model: 'm', input: 'Hi', background: true })).json
    let settled = kept
    do settled = await testServer.ask(`/v1/responses/${later}`, undefined, { method: 'GET' })
    while (settled.json.status === 'queued' || settled.json.status === 'in_progress')
    expect(settled.json.status).toBe('failed')
    expectNothingOf(testServer, host, settled.text)
    const client = await Client.open(testServer.server.address)
    closing.push(() => client.socket.terminate())
    const events = await client.turn({ input: 'Hi' })
    expect(events.length).toBeGreaterThan(1)
    expectNothingOf(testServer, host, JSON.stringify(events))
  })

  test('in the log, where an answer is no HTTP at all', async () => {
    const upstream = await WireUpstream.open(({ socket }) =>
      socket.write(`HTTP/9.9 nonsense ${KEYS.join(' ')}\r\n\r\n`),
    )
    closing.push(() => upstream.close())
    const testServer = await openGateway([channelAt(upstream.address, CHANNEL)])
    expect((await testServer.ask('/v1/chat/completions', ASK)).status).toBe(502)
    expect(testServer.lines.some(({ fields }) => fields['err'] !== undefined)).toBe(true)
    expect(tells(JSON.stringify(testServer.lines), KEYS)).toEqual([])
  })
})

const SIGNED = 'https://b.s3.amazonaws.com/a.png?'

describe('what is no secret stays', () => {
  test.each([
    'Invalid value for temperature: 3.5 is not between 0 and 2.',
    "messages.3.content.0.image_url.url: 'https://example.com/cat.png' could not be fetched from 93.184.216.34:443",
    'No tool output found for function call call_Abc123def456ghi789.',
    'The model `m` does not exist (request id: req_011CQabcdefghijkl).',
    'See https://platform.openai.com/docs/api-reference at 12:30:45, version 1.2.3.4',
    'std::vector, a::b, sk-learn, task-oriented-dialogue-2024, bearer authentication, key: temperature, token: unexpected',
    'previous_response_id: resp_68a0b1c2d3e4f5a6b7c8d9e0f1a2b3c4 not found; max_tokens: 1234567890',
    'my.settings.localized, internal.error, config.internals',
    'What is a line of -----BEGIN PRIVATE KEY-----? Is the END needed, too?',
  ])('%s', text => {
    expect(withoutAddresses(withoutKeys(text))).toBe(text)
  })

  test.each([
    ['dial tcp 10.0.0.3:8000: connect: connection refused', 'dial tcp [address]: connect: connection refused'],
    ['at http://user:pass1234@example.com/v1', 'at http://example.com/v1'],
    ['at http://[::1]:8000/v1 or fe80::1 or localhost:11434', 'at http://[address]/v1 or [address] or [address]'],
    ['Authorization: Bearer abcdef123456', 'Authorization: Bearer [key]'],
    ['api_key=abcdef123456&x=1', 'api_key=[key]&x=1'],
    ['Incorrect API key provided: my-own-key-0001.', 'Incorrect API key provided: [key]'],
    ['gsk_abcdefghijklmnop1234 AIzaSyA1234567890abcdefghijklmno', '[key] [key]'],
    ['x-amz-security-token:IQoJb3JpZ2luX2VjEBAa/+z9==\nhost:a', 'x-amz-security-token:[key]\nhost:a'],
    ['token ya29.c.b0AXv0zTN1x-Q2_345678901234567890', 'token [key]'],
    [`token IQoJb3JpZ2luX2Vj${'aB3/'.repeat(20)}== is over`, 'token [key] is over'],
    [`bedrock-api-key-${'YmVk'.repeat(20)}`, '[key]'],
    [`wrong: ABSK${'QmVk'.repeat(25)}=`, 'wrong: [key]'],
    [`id GOCSPX-${'a1_b'.repeat(7)}, abc8Q~${'d2.e'.repeat(8)}`, 'id [key], [key]'],
    ['https://b.s3.amazonaws.com/a.png?X-Amz-Signature=0a1b2c3d4e5f60718293', `${SIGNED}X-Amz-Signature=[key]`],
    ...['X-Tos-Signature', 'X-Tos-Security-Token', 'x-oss-signature', 'q-signature', 'token'].map(name => [
      `https://b.s3.amazonaws.com/a.png?${name}=0a1b2c3d4e5f60718293`,
      `${SIGNED}${name}=[key]`,
    ]),
    ['https://b.s3.amazonaws.com/a.png?se=2027&sig=a%2Fbcdefghijklmnop%3D&sp=r', `${SIGNED}se=2027&sig=[key]&sp=r`],
    ['ftp://user:secret-of-the-tests@example.com/a.png', 'ftp://example.com/a.png'],
    ['export AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG', 'export AWS_SECRET_ACCESS_KEY=[key]'],
    ['MY_API_KEY="own-key-0001"\nPGPASSWORD=hunter2hunter2', 'MY_API_KEY="[key]"\nPGPASSWORD=[key]'],
    [
      '{"client_secret":"own-secret-0001","dbPassword": "hunter2hunter2"}',
      '{"client_secret":"[key]","dbPassword": "[key]"}',
    ],
    ...['\n', '\\n', '\\\\r\\\\n'].map(end => [
      `"-----BEGIN RSA PRIVATE KEY-----${`${end}MIIEvQ/BADANBgkqhkiG+w0B`.repeat(9)}${end}-----END RSA PRIVATE KEY-----"`,
      '"-----BEGIN RSA PRIVATE KEY-----[key]-----END RSA PRIVATE KEY-----"',
    ]),
  ])('%s', (text, safe) => {
    expect(withoutAddresses(withoutKeys(text))).toBe(safe)
  })

  test('the password of an address is removed where its host is shown', () => {
    expect(withoutKeys('see https://user:secret-of-the-tests@example.com/a.png')).toBe(
      'see https://user:[key]@example.com/a.png',
    )
    expect(withoutKeys('https://example.com:8080/@a?signature=short')).toBe(
      'https://example.com:8080/@a?signature=short',
    )
  })

  test.each([
    'a',
    ' ',
    '0',
    ':',
    '.',
    'key',
    'key:',
    'a.',
    'a://',
    'sk-',
    '10.',
    'eyJ',
    '[',
    'bearer ',
    '://a:',
    'secret',
    '-----BEGIN PRIVATE KEY-----A',
    'fm2_',
    'M0123456789012345678901234.',
    'eyJrIjoi',
    'Aa0.',
  ])('and a text of nothing but "%s" is looked through in time', TIMED, piece => {
    const at = performance.now()
    withoutAddresses(withoutKeys(piece.repeat(1_000_000 / piece.length)))
    expect(performance.now() - at).toBeLessThan(3000)
  })
})

/** Letters and digits of a made-up key. */
const PART = 'abcdEFGH1234ijklMNOP5678qrstUVWX'
const HEX = '0a1b2c3d'.repeat(8)

test.each([
  ...[`glpat-${PART}`, `npm_${PART}abcd`, `pypi-AgE${PART}`, `dop_v1_${HEX}`, `dckr_pat_${PART}`, `figd_${PART}`],
  ...[`lin_api_${PART}abcdEFGH`, `ntn_${PART}abcdEFGH`, `ATATT3${PART}${PART}`, `shpat_${HEX.slice(32)}`],
  ...[`glsa_${PART}_${HEX.slice(56)}`, `sbp_${HEX.slice(24)}`, `sb_secret_${PART}`, `dapi${HEX.slice(32)}`],
  ...[`lsv2_pt_${HEX.slice(32)}_${HEX.slice(54)}`, `tvly-${PART}`, `fc-${HEX.slice(32)}`, `pa-${PART}abcdEFGH123`],
  ...[`whsec_${PART}`, `hvs.${PART}`, `SG.${PART}.${PART}abcdEFGH123`],
  ...[
    `AQ.Ab8RN6${PART}${PART}`,
    `tgp_v1_${PART}`,
    `vck_${PART}`,
    `ghs_${PART}`,
    `ghu_${PART}`,
    `xapp${'-'}1-A1-2-${PART}`,
  ],
  ...[
    `xoxe.xoxp${'-'}1-${PART}`,
    `glrt-${PART}`,
    `gldt-${PART}`,
    `glc_${PART}==`,
    `ops_eyJ${PART}${PART}`,
    `hvb.${PART}`,
  ],
  ...[
    `LTAI5t${PART.slice(0, 14)}`,
    `AKID${PART}`,
    `dp.pt.${PART}abcdEFGH123`,
    `rpa_${PART.toUpperCase()}`,
    `rnd_${PART}`,
  ],
  ...[
    `AGE-SECRET-KEY-1${PART.toUpperCase()}${PART.toUpperCase()}`,
    `pat${PART.slice(0, 14)}.${HEX}`,
    `pul-${HEX.slice(24)}`,
  ],
  ...[`PMAK-${HEX.slice(40)}-${HEX.slice(30)}`, `NRAK-${PART.slice(0, 27).toUpperCase()}`, `pscale_tkn_${PART}`],
  ...[`rubygems_${HEX.slice(16)}`, `sntrys_${PART}${PART}`, `sntryu_${HEX}`, `dckr_oat_${PART}`, `SK${HEX.slice(32)}`],
  ...[`HRKU-${PART}${PART}`, `1234567890:AAE${PART}`, `MTAxMjM0NTY3ODkwMTIzNDU2.Gabcde.${PART}`, `dor_v1_${HEX}`],
  `https://a.webhook.office.com/webhookb2/1a2b3c4d@5e6f/IncomingWebhook/${PART}`,
  ...[`services/T00000000/B00000000/${PART}`].map(path => `https://hooks.slack.com/${path}`),
  `https://discord.com/api/webhooks/123456789012345678/${PART}${PART}`,
  `https://api.telegram.org/bot123456789:${PART}/sendMessage`,
  `AccountName=a;AccountKey=${PART}${PART}==;EndpointSuffix=core.windows.net`,
])('keys of services that agents use are removed: %s', text => {
  const shown = withoutKeys(`before ${text} after`)
  expect(shown).toMatch(/^before .*\[key\].* after$/)
  expect(shown).not.toMatch(/EFGH1234|2c3d0a1b/)
})

test.each([
  ...[
    'npm_config_registry',
    'npm_lifecycle_event_of_the_package_1',
    'fc-match',
    'pa-in-the-morning-at-7',
    'SG.1',
    'hvs.3',
  ],
  ...['vcr_cassettes_of_2026_and_later', 'rnd_seed_1234567890', 'AQ.1', 'LTAI', 'patience.1', '12345678:Answer'],
  ...['glpat-', 'https://hooks.slack.com/services', 'https://api.telegram.org/bots', 'dapi', 'whsec_endpoint'],
])('words with the beginning of a key stay: %s', text => expect(withoutKeys(text)).toBe(text))
