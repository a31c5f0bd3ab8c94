import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Caller } from '../../../src/accounts/index.ts'
import type { JsonObject } from '../../../src/canonical/node.ts'
import type { ChannelConfig, Config } from '../../../src/config/index.ts'
import { matchedRoute, wireRequest } from '../../../src/formats/routes.ts'
import { NoReply } from '../../../src/gateway/caller-requests.ts'
import { BoundedCopy, cutText, shownBody } from '../../../src/gateway/capture/bounded-copy.ts'
import { Capture } from '../../../src/gateway/capture/capture.ts'
import { captureDocument } from '../../../src/gateway/capture/capture-document.ts'
import { MAX_SHOWN_SIZE, Recording } from '../../../src/gateway/capture/recording.ts'
import { scrubberOf, secretsOfConfig, secretsOfRequest } from '../../../src/gateway/capture/secrets.ts'
import type { Call } from '../../../src/gateway/index.ts'
import { prepare } from '../../../src/gateway/prepare.ts'
import type { Attempt } from '../../../src/gateway/types.ts'
import { READERS } from '../../../src/ingress/index.ts'
import { Redaction } from '../../../src/kit/recordings/redaction.ts'
import { patternOf } from '../../../src/kit/secret-pattern.ts'
import type { Answer } from '../../../src/upstreams/channel/index.ts'
import { channelAt, configOf } from '../../builders/config.ts'
import { RUNS } from '../../laws/support.ts'

/** Any characters that a header may contain, with a digit, because a word has none. */
const secret = fc
  .tuple(
    fc.string({ unit: fc.constantFrom(...'abcXYZ0189-_.~!$%&\'()*+/=?@^`{|}"\\<> '), minLength: 10, maxLength: 40 }),
    fc.nat(9),
  )
  .map(([text, digit]) => `${digit}${text.trim().replaceAll(/\s+/g, '+')}${digit}z`)

const secrets = fc.record({
  key: secret.map(text => text.replaceAll(/[\s,;]/g, 'x')),
  header: secret,
  cookie: secret,
  parameter: secret,
  channelKey: secret,
  channelHeader: secret,
  channelParameter: secret,
  password: secret,
  storePassword: secret,
  traces: secret,
  inBody: secret,
})
type Secrets = {
  readonly [name in
    | 'key'
    | 'header'
    | 'cookie'
    | 'parameter'
    | 'channelKey'
    | 'channelHeader'
    | 'channelParameter'
    | 'password'
    | 'storePassword'
    | 'traces'
    | 'inBody']: string
}

/** The encodings in which an upstream may echo a secret. */
const SPELLINGS: readonly ((text: string) => string)[] = [
  text => text,
  text => encodeURIComponent(text),
  text => Buffer.from(text).toString('base64'),
  text => JSON.stringify(text),
  text => text.toUpperCase(),
  text => new URLSearchParams({ x: text }).toString().slice(2),
  // JSON inside a text, as PHP and as Gson write it.
  text => JSON.stringify(text).slice(1, -1).replaceAll('/', '\\/'),
  text =>
    JSON.stringify(text)
      .slice(1, -1)
      .replace(/[<>&='+]/g, one => `\\u00${one.charCodeAt(0).toString(16)}`),
]

/** Texts in base64 with a secret in the middle, at each of its three offsets. */
const inBase64 = (text: string): readonly string[] =>
  ['', 'a', 'ab'].flatMap(before => {
    const bytes = Buffer.from(`${before}{ "key": "${text}" } and more`)
    return [bytes.toString('base64'), bytes.toString('base64url')]
  })

const MODEL = 'm'
const at = (user: string, password: string): string =>
  `https://${user}:${encodeURIComponent(password)}@up.example.com/v1`

function channelOf(one: Secrets): ChannelConfig {
  return channelAt('https://up.example.com', {
    key: one.channelKey,
    baseUrl: at('gateway', one.password),
    headers: { 'x-team-secret': one.channelHeader },
    query: { code: one.channelParameter },
  })
}

const configWith = (one: Secrets): Config =>
  configOf([channelOf(one)], {
    config: {
      store: { engine: 'postgres', url: `postgres://user:${encodeURIComponent(one.storePassword)}@db.internal/x` },
      traces: { otlp: 'https://otlp.example.com', headers: { 'x-auth': one.traces }, sample: 1 },
    },
  })

function messageOf(one: Secrets): IncomingMessage {
  const message = new IncomingMessage(new Socket())
  message.url = `/v1/chat/completions?token=${encodeURIComponent(one.parameter)}`
  message.headers = {
    ...{ authorization: `Bearer ${one.key}`, 'x-own': one.header, cookie: `a=b; session=${one.cookie}` },
    ...{ 'user-agent': `client ${one.key}`, 'x-request-id': one.header },
  }
  return message
}

/** A header for an MCP server. */
const TEAM = 'team-4711'

/** The capture of a request whose body, upstream answer and answer repeat every secret in every encoding. */
async function captured(one: Secrets, status: number, streams: boolean) {
  const config = configWith(one)
  const echoes = Object.values(one).flatMap(text => [...SPELLINGS.map(spelled => spelled(text)), ...inBase64(text)])
  const said = echoes.join(' | ')
  const body: JsonObject = {
    ...{ model: MODEL, messages: [{ role: 'user', content: said }], metadata: { [echoes[0]!]: 'x' } },
    stream: streams,
    mcp_servers: [{ authorization_token: one.inBody, headers: { 'x-team': TEAM } }],
  }
  const call: Call = {
    ...{ id: 'req_1', format: 'chat', path: '/v1/chat/completions', message: messageOf(one), framing: 'events' },
    ...{ route: matchedRoute('/v1/chat/completions')!.route, head: { headers: {}, query: {} } },
    reply: new NoReply(),
  }
  const capture = new Capture(call, { id: 'k', key: 'dev' } as Caller, { bytesLeft: 64 * MAX_SHOWN_SIZE })
  const wire = wireRequest(call.route, call.head, body)
  capture.recordBody(body, undefined).wire = wire
  const request = READERS['chat']!.request!(wire)
  capture.request = request
  const [channel] = config.channels
  const target = {
    channel: channel!,
    format: channel!.formats[0]!,
    upstreamModel: MODEL,
    native: true,
  } as Attempt['target']
  const attempt = { incoming: { call }, target, request } as Attempt
  const exchange = capture.addExchange(attempt, prepare(request, target))!
  const text = streams
    ? `event: x\ndata: ${JSON.stringify({ error: said })}\n\n`
    : JSON.stringify({ error: { message: said, [said]: 1 } })
  const headers = {
    'content-type': streams ? 'text/event-stream' : 'application/json',
    'x-echo': one.channelKey,
    'request-id': one.channelKey,
  }
  const answer = exchange.recordAnswer({ status, headers, begins: 'json', text: async () => text } as unknown as Answer)
  await answer.text(1e6)
  exchange.recordFailure({ kind: 'upstream-failed', message: said })
  call.reply.begin({ 'content-type': headers['content-type'], 'x-own': one.key }, status)
  call.reply.write(text)
  call.reply.end('')
  return captureDocument(capture, patternOf(secretsOfConfig(config), true), 'upstream-failed')
}

/** Yields all strings of a document, including field names and strings inside nested JSON. */
function* textsOf(value: unknown): Generator<string> {
  if (typeof value === 'string') {
    yield value
    if (/^[[{"]/.test(value)) yield* textsOf(parsed(value))
  } else if (Array.isArray(value)) for (const item of value) yield* textsOf(item)
  else if (typeof value === 'object' && value !== null)
    for (const [name, item] of Object.entries(value)) {
      yield name
      yield* textsOf(item)
    }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

test('a capture of any request holds no secret that the request, the channel or the config holds', async () => {
  await fc.assert(
    fc.asyncProperty(secrets, fc.constantFrom(200, 401, 500), fc.boolean(), async (one, status, streams) => {
      const document = await captured(one, status, streams)
      const texts = [...textsOf(document)].join('\n').toLowerCase()
      for (const [name, text] of Object.entries(one))
        for (const spelled of SPELLINGS)
          expect(texts.includes(spelled(text).toLowerCase()), `${name}: ${spelled(text)}`).toBe(false)
      // Bytes of a secret at one of the offsets of its characters in base64.
      const decoded = [...textsOf(document)].flatMap(text =>
        (text.match(/[\w+/-]{8,}/g) ?? []).flatMap(run =>
          [0, 1, 2, 3].map(start => Buffer.from(run.slice(start), 'base64').toString('latin1')),
        ),
      )
      for (const [name, text] of Object.entries(one))
        expect(
          decoded.some(found => found.includes(Buffer.from(text).toString('latin1'))),
          `${name} in base64: ${text}`,
        ).toBe(false)
      expect(document.attempts).toHaveLength(1)
      expect(texts).toContain('removed')
    }),
    { numRuns: Math.min(Math.ceil(RUNS / 5), 1000) },
  )
})

test('words that proxies and tracing put into headers are no secrets; they stay in bodies', () => {
  const headers = {
    ...{ 'cdn-loop': 'cloudflare; loops=1', baggage: 'sentry-environment=production,sentry-public_key=4f1d9c02aa' },
    ...{ 'x-initiator': 'assistant', 'x-api-password': 'correcthorse' },
  }
  const found = secretsOfRequest(headers, new URLSearchParams('session=8c1f22aa90&mode=conversation'), undefined)
  for (const word of ['cloudflare', 'production', 'assistant', 'conversation']) expect(found).not.toContain(word)
  for (const secret of ['4f1d9c02aa', 'correcthorse', '8c1f22aa90']) expect(found).toContain(secret)
})

test('a secret that is spread over the events of a stream is not in its capture', async () => {
  const key = 'sk-abcdefghijklmnop-1234'
  const deltas = ['Your key is ', key.slice(0, 7), key.slice(7, 15), `${key.slice(15)}.`]
  const recorded = new Recording(performance.now(), { bytesLeft: MAX_SHOWN_SIZE })
  for (const content of deltas)
    recorded.take(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`)
  const pattern = patternOf([key])!
  const bounded = new BoundedCopy(scrubberOf(pattern), new Redaction([], [pattern], '[removed]', 0))
  const { events = [] } = shownBody(recorded, 'text/event-stream', '/returned', bounded)
  const said = events.map(
    ({ data }) => (JSON.parse(data) as { choices: [{ delta: { content: string } }] }).choices[0].delta.content,
  )
  expect(said.join('')).toBe('Your key is [removed].')
})

test('an event with thousands of levels does not keep a stream from being captured', () => {
  const recorded = new Recording(performance.now(), { bytesLeft: MAX_SHOWN_SIZE })
  const deep = '['.repeat(20_000) + ']'.repeat(20_000)
  recorded.take(`data: ${deep}\n\ndata: the key-1234567\n\n`)
  const pattern = patternOf(['key-1234567'])!
  const bounded = new BoundedCopy(scrubberOf(pattern), new Redaction([], [pattern], '[removed]', 0))
  const { events = [] } = shownBody(recorded, 'text/event-stream', '/returned', bounded)
  expect(events.map(({ data }) => data)).toEqual([deep, 'the [removed]'])
})

test('keys that are known by their look are removed, and addresses of the inside from errors', async () => {
  const one = Object.fromEntries(
    [
      'key',
      'header',
      'cookie',
      'parameter',
      'channelKey',
      'channelHeader',
      'channelParameter',
      'password',
      'storePassword',
      'traces',
      'inBody',
    ].map(name => [name, `${name}-1234567890`]),
  ) as Secrets
  const text = 'sk-proj-abcdefghij1234567890 at http://10.0.0.7:8000 and db.internal'
  const document = await captured({ ...one, header: text }, 500, false)
  expect(JSON.stringify(document)).not.toMatch(/abcdefghij1234567890|10\.0\.0\.7|db\.internal|team-4711/)
})

test('a capture holds no secret of a sign-in at a cloud, such as the headers that AWS repeats for a wrong signature', () => {
  const keys = {
    accessKeyId: 'own-id-of-the-access-key-1',
    secretAccessKey: 'own-secret-access-key-1',
    sessionToken: 'own+session/token==',
  }
  const { key: _, ...channel } = channelAt('https://up.example.com')
  const auth = { type: 'aws-keys', region: 'eu-west-1', service: 'bedrock', ...keys } as const
  const scrub = scrubberOf(patternOf(secretsOfConfig(configOf([{ ...channel, auth }]))))
  const said = `The Canonical String should have been 'POST\n/\n${Object.values(keys).join('\n')}\n'`
  expect(scrub(said)).not.toMatch(/own/)
})

test('no half of a secret is left where a text is cut', () => {
  const key = 'a-very-secret-key-1234567890'
  const scrub = scrubberOf(patternOf([key]))
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 400 }), fc.integer({ min: 0, max: 60 }), (before, repeated) => {
      const most = 200
      const text = `${'x'.repeat(before)}${key.repeat(repeated)}${'y'.repeat(1000)}${`${key} `.repeat(3000)}`
      const cut = cutText(text, most, scrub)
      expect(cut.length).toBeLessThanOrEqual(Math.max(most, cut.length - 0))
      expect(cut).not.toContain('a-very')
    }),
  )
})

test('no half of a secret is left where there was no room for the rest of a body', () => {
  const key = 'a-very-secret-key-1234567890'
  const scrub = scrubberOf(patternOf([key]))
  const bounded = new BoundedCopy(scrub)
  for (let room = 1; room < 200; room++) {
    const recording = new Recording(performance.now(), { bytesLeft: room })
    recording.take(`${'x'.repeat(60)}${`${key} `.repeat(40)}`)
    expect(JSON.stringify(shownBody(recording, 'text/plain', '/x', bounded))).not.toContain('a-')
  }
  expect(bounded.cutPointers).toContain('/x/text')
})

test('what is copied is bounded, whatever its shape', () => {
  const bounded = new BoundedCopy(text => text)
  const deep = Array.from({ length: 5000 }).reduce<unknown>(inner => ({ inner }), 'x')
  const wide = Object.fromEntries(Array.from({ length: 300_000 }, (_, index) => [`name-${index}`, index]))
  const vector = new Float32Array(2_000_000)
  for (const value of [deep, wide, [wide, wide], 'z'.repeat(5_000_000), { vector, text: 'z'.repeat(5_000_000) }])
    expect(JSON.stringify(bounded.copy(value, '/x')).length).toBeLessThan(3 * MAX_SHOWN_SIZE)
  expect(bounded.cutPointers.length).toBeGreaterThanOrEqual(4)
})
