import * as v from 'valibot'
import { suggestion } from './faults.ts'
import { callerFormats, dialectFlags, upstreamFormats, urlsByFormat } from './format-fields.ts'
import { record, strictFields } from './objects.ts'
import { isRange } from './ranges.ts'
import { bytes, instant, milliseconds } from './units.ts'
import { MOST_WORKERS } from './workers.ts'

export { ConfigError, type Fault } from './faults.ts'
export type * from './types.ts'

/** An object schema that rejects unknown keys and suggests the most similar known one. */
const fields = <E extends v.ObjectEntries>(entries: E) =>
  strictFields(entries, issue => {
    if (issue.expected === 'never') {
      const key = String(issue.path?.at(-1)?.key)
      return `unknown key${suggestion(key, Object.keys(entries))}`
    }
    return issue.path === undefined || issue.expected === 'Object' ? expects('a map')(issue) : 'is missing'
  })

/** Builds messages such as `expected a number, found "many"`. */
const expects = (what: string) => (issue: v.BaseIssue<unknown>) =>
  issue.input === undefined ? 'is missing' : `expected ${what}, found ${shown(issue.input)}`

function shown(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'a map'
  return JSON.stringify(value)
}

const text = v.pipe(v.string(expects('a string')), v.minLength(1, 'is empty'))
/** A secret; messages do not show its value. Trimmed, because files and variables often end with a line break. */
const secret = v.pipe(v.string('expected a string'), v.trim(), v.minLength(1, 'is empty'))
/** An API key; only characters that a header allows. */
const credential = v.pipe(
  secret,
  v.regex(/^[\x21-\x7e\x80-\xff]*$/, 'has a space, a line break or another character that no header can hold'),
)
const listOfTexts = () => v.array(text, expects('a list of strings'))
const texts = listOfTexts()
const mapOf = <T extends v.GenericSchema>(value: T) => record(v.string(), value, expects('a map'))
/** Headers by name. Messages do not show the values, which may be secret. */
const headers = record(
  v.pipe(v.string(), v.regex(/^[\w!#$%&'*+.^`|~-]+$/, 'is not a header name')),
  v.pipe(
    v.string('expected a string'),
    v.trim(),
    v.minLength(1, 'is empty'),
    v.regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'has a line break or another character that no header can hold'),
  ),
  expects('a map'),
)

/** A number, or a numeric text as variable interpolation produces it. */
const number = (what: string, lowest: number, whole: boolean) => {
  const inRange = (value: number): boolean => value >= lowest && (!whole || Number.isInteger(value))
  return v.union(
    [
      v.pipe(v.number(), v.check(inRange, expects(what))),
      v.pipe(
        v.string(),
        v.regex(/^-?\d+(\.\d+)?$/, expects(what)),
        v.transform(Number),
        v.check(inRange, expects(what)),
      ),
    ],
    expects(what),
  )
}
const WORKERS = `a whole number from 1 to ${MOST_WORKERS}`
const count = (what = 'a whole number, 0 or more') => number(what, 0, true)
const port = v.pipe(count('a port'), v.maxValue(65_535, expects('a port')))
/** An ISO 8601 time or day, converted to Unix milliseconds. */
const time = v.pipe(
  text,
  v.check(value => instant(value) !== undefined, expects('a time such as 2027-01-31 or 2027-01-31T12:00:00Z')),
  v.transform(value => instant(value)!),
)
const duration = v.pipe(
  v.string(expects('a duration such as 5s or 500ms')),
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    const value = milliseconds(dataset.value)
    if (value !== undefined) return value
    addIssue({ message: `expected a duration such as 5s or 500ms, found ${shown(dataset.value)}` })
    return NEVER
  }),
)
/** A duration for a timer; at most 24 days, because Node fires longer timers at once. */
const wait = (shortest = '1ms', longest = '24d') =>
  v.pipe(
    duration,
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed || (dataset.value >= milliseconds(shortest)! && dataset.value <= milliseconds(longest)!))
        return
      addIssue({ message: `expected a duration from ${shortest} to ${longest}` })
    }),
  )
const size = v.pipe(
  v.union([v.string(), v.number()], expects('a size such as 32MiB')),
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    const value = bytes(String(dataset.value))
    if (value !== undefined) return value
    addIssue({ message: `expected a size such as 32MiB, found ${shown(dataset.value)}` })
    return NEVER
  }),
)
/** A boolean, or a text for one as variable interpolation produces it. */
const yesOrNo = v.union(
  [
    v.boolean(),
    v.pipe(
      v.picklist(['true', 'false', 'on', 'off']),
      v.transform(value => value === 'true' || value === 'on'),
    ),
  ],
  expects('true or false'),
)
const oneOf = <const T extends readonly string[]>(values: T) =>
  v.picklist(values, issue => `${expects(values.map(value => `"${value}"`).join(' or '))(issue)}`)

const address = v.pipe(
  text,
  v.check(
    value => /^https?:\/\/[^/?#]+[^?#]*$/.test(value) && URL.canParse(value),
    expects('an http or https address'),
  ),
)
/** The URL of a proxy, which may contain credentials, or `none`. Messages do not show it. */
const proxy = v.pipe(
  v.string('expected the http or https URL of a proxy, or none'),
  v.check(
    value => value === 'none' || (/^https?:\/\/[^/?#]+\/?$/.test(value) && URL.canParse(value)),
    'expected the http or https URL of a proxy, or none',
  ),
)
/** A browser origin, or `*` for any. */
const origin = v.pipe(
  text,
  v.check(
    value => value === '*' || /^https?:\/\/[^/?#]+$/.test(value),
    expects('an origin such as https://example.org, or "*"'),
  ),
)
const range = v.pipe(text, v.check(isRange, expects('an address or a range such as 10.0.0.0/8')))
const models = v.union([texts, mapOf(text)], expects('a list or a map of models'))
const modalities = v.array(oneOf(['text', 'image', 'audio', 'video', 'file', 'embedding']), expects('a list'))
const money = number('an amount, 0 or more', 0, false)

const server = fields({
  host: v.optional(text),
  port: v.optional(port),
  workers: v.optional(
    v.union(
      [v.literal('auto'), v.pipe(number(WORKERS, 1, true), v.maxValue(MOST_WORKERS, expects(WORKERS)))],
      expects(`"auto" or ${WORKERS}`),
    ),
  ),
  tls: v.optional(fields({ cert: text, key: text })),
  trusted_proxies: v.optional(v.array(range, expects('a list of addresses'))),
  public_url: v.optional(v.union([address, v.array(address)], expects('an address, or a list of them'))),
  cors: v.optional(v.array(origin, expects('a list of origins'))),
  // A caller is considered gone after eight heartbeats without reading; that wait must fit in a timer too.
  heartbeat: v.optional(wait('1ms', '3d')),
  early_head: v.optional(yesOrNo),
  drain: v.optional(wait('0s')),
  grace: v.optional(wait('0s')),
  sockets: v.optional(
    fields({
      lifetime: v.optional(wait()),
      idle: v.optional(wait()),
      queue: v.optional(count()),
      turns: v.optional(count()),
      memory: v.optional(size),
    }),
  ),
  limits: v.optional(
    fields({
      json_body: v.optional(size),
      doors: v.optional(mapOf(size)),
      waiting: v.optional(fields({ key: v.optional(size), all: v.optional(size) })),
      spooled: v.optional(fields({ key: v.optional(size), all: v.optional(size) })),
      connections: v.optional(count()),
    }),
  ),
})

const media = fields({
  fetch: v.optional(yesOrNo),
  limit: v.optional(size),
  count: v.optional(count()),
  total: v.optional(size),
  timeout: v.optional(wait()),
  allow: v.optional(v.array(range, expects('a list of addresses'))),
})

const store = v.pipe(
  text,
  v.check(
    value => /^(?:postgres(?:ql)?:\/\/.|sqlite:.)/.test(value),
    'expected postgres://user@host/database or sqlite:FILE',
  ),
  v.check(
    value => value.startsWith('sqlite:') || URL.canParse(value),
    'not a valid address; special characters of a password are percent-encoded (# is %23, / is %2F)',
  ),
)
const redis = v.pipe(
  text,
  v.check(value => /^rediss?:\/\/./.test(value), 'expected redis://host:port'),
)

/** A duration, or 0 to turn the feature off. */
const retention = (usual: string) =>
  v.optional(
    v.union(
      [
        v.pipe(
          v.picklist([0, '0']),
          v.transform(() => 0),
        ),
        duration,
      ],
      expects(`a duration such as ${usual}, or 0`),
    ),
  )

const responses = fields({ keep: retention('30d'), background: v.optional(count()) })

/** A path segment that does not collide with other endpoints. */
const segment = v.pipe(
  text,
  v.check(
    value => /^[a-z0-9][a-z0-9._-]*$/i.test(value) && !/^(?:v\d|healthz|readyz|metrics|admin)/i.test(value),
    expects('a segment of a path such as videovendor'),
  ),
)

const tasks = fields({
  poll: retention('10s'),
  keep: retention('7d'),
  limit: v.optional(size),
  vendor_path: v.optional(segment),
})

const reasoningMemory = fields({ keep: retention('2h'), memory: v.optional(size) })

const realtime = fields({
  lifetime: v.optional(wait()),
  idle: v.optional(wait()),
  message: v.optional(size),
  buffer: v.optional(size),
  sessions: v.optional(fields({ key: v.optional(count()), all: v.optional(count()) })),
  browser_keys: v.optional(yesOrNo),
  cascade: v.optional(fields({ transcription: text, speech: text, voice: v.optional(text) })),
})

const limits = {
  rpm: v.optional(count()),
  tpm: v.optional(count()),
  concurrent: v.optional(count()),
  budget: v.optional(
    fields({ day: v.optional(money), month: v.optional(money), unknown: v.optional(oneOf(['allow', 'refuse'])) }),
  ),
}

const permissions = {
  models: v.optional(texts),
  doors: v.optional(callerFormats(listOfTexts())),
  ...limits,
  on_loss: v.optional(oneOf(['show', 'refuse'])),
}

const group = fields({ ...permissions, channels: v.optional(texts) })

const key = fields({
  ...{ name: text, key: credential, group: v.optional(text), note: v.optional(text) },
  ...permissions,
  enabled: v.optional(yesOrNo),
  expires: v.optional(time),
  capture_until: v.optional(time),
})

const usage = fields({ keep: retention('90d') })
const capture = fields({ keep: retention('24h'), limit: v.optional(size) })

const metrics = fields({ host: v.optional(text), port: v.optional(port), key: v.optional(credential) })

const traces = fields({
  otlp: address,
  headers: v.optional(headers),
  sample: v.optional(v.pipe(number('a share from 0 to 1', 0, false), v.maxValue(1, expects('a share from 0 to 1')))),
})

/** The issuer's URL. It receives secrets, so plain HTTP is allowed only on this machine. */
const issuer = v.pipe(
  text,
  v.check(
    value =>
      URL.canParse(value) && /^https:\/\/[^?#]+$|^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])[:/][^?#]*$/.test(value),
    expects('an https address'),
  ),
)

const oidc = fields({
  ...{ issuer, client_id: text, client_secret: secret, name: v.optional(text), scopes: v.optional(texts) },
  claim: v.optional(text),
  roles: fields({ admin: v.optional(texts), viewer: v.optional(texts) }),
})

const switchedOff = v.pipe(
  v.union([v.literal(false), v.picklist(['false', 'off'])]),
  v.transform(() => false as const),
)
const console = v.union(
  [fields({ session: v.optional(wait('1m')), idle: v.optional(wait('1m')), oidc: v.optional(oidc) }), switchedOff],
  expects('a map, or false'),
)

const dialect = dialectFlags(mapOf(v.unknown()))

const channel = fields({
  name: text,
  provider: text,
  formats: v.optional(upstreamFormats(listOfTexts())),
  base_url: v.optional(
    v.union([address, urlsByFormat(mapOf(address))], expects('an address, or a map of them by format')),
  ),
  key: v.optional(credential),
  models: v.optional(models),
  priority: v.optional(number('a number', Number.NEGATIVE_INFINITY, false)),
  weight: v.optional(number('a number, 0 or more', 0, false)),
  affinity: v.optional(yesOrNo),
  dialect: v.optional(dialect),
  headers: v.optional(headers),
  allow_headers: v.optional(texts),
  media: v.optional(fields({ addresses: v.optional(oneOf(['public', 'any'])) })),
  betas: v.optional(v.union([oneOf(['allow', 'none']), texts], expects('"allow", "none" or a list'))),
  timeout: v.optional(
    fields({
      connect: v.optional(wait()),
      first_byte: v.optional(wait()),
      whole: v.optional(wait()),
      idle: v.optional(wait()),
    }),
  ),
  max_concurrent: v.optional(number('a whole number, 1 or more', 1, true)),
  proxy: v.optional(proxy),
  tls: v.optional(fields({ ca: v.optional(text), cert: v.optional(text), key: v.optional(text) })),
})

const facts = fields({
  name: v.optional(text),
  description: v.optional(text),
  interface: v.optional(text),
  context: v.optional(count()),
  max_output: v.optional(count()),
  dialect: v.optional(dialect),
  compaction: v.optional(oneOf(['enabled', 'disabled'])),
  input: v.optional(modalities),
  output: v.optional(modalities),
  reasoning: v.optional(yesOrNo),
  tools: v.optional(yesOrNo),
  price: v.optional(
    fields({
      input: v.optional(money),
      output: v.optional(money),
      cache_read: v.optional(money),
      cache_write: v.optional(money),
    }),
  ),
})

/** The config schema. Every field is optional, so an empty file is valid. */
export const CONFIG_SCHEMA = fields({
  server: v.optional(server),
  proxy: v.optional(proxy),
  media: v.optional(media),
  responses: v.optional(responses),
  thoughts: v.optional(reasoningMemory),
  realtime: v.optional(realtime),
  tasks: v.optional(tasks),
  data_dir: v.optional(text),
  store: v.optional(store),
  redis: v.optional(redis),
  usage: v.optional(usage),
  capture: v.optional(capture),
  metrics: v.optional(metrics),
  traces: v.optional(traces),
  console: v.optional(console),
  groups: v.optional(mapOf(group)),
  keys: v.optional(v.array(key, expects('a list'))),
  channels: v.optional(v.array(channel, expects('a list'))),
  models: v.optional(mapOf(facts)),
})

/** A validated config with units resolved, before defaults. */
export type WrittenConfig = v.InferOutput<typeof CONFIG_SCHEMA>
