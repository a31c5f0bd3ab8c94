import * as v from 'valibot'
import { FALLBACK_REASONS, MODEL_ORDERS } from '../formats/model-facts.ts'
import { AUTH_FIELDS, AUTH_TYPES } from './auth.ts'
import { callerFormats, dialectFlags, upstreamFormats, urlsByFormat } from './format-fields.ts'
import {
  address,
  count,
  credential,
  duration,
  expects,
  fields,
  headerName,
  headers,
  listOfTexts,
  mapOf,
  modalities,
  models,
  money,
  number,
  oneOf,
  origin,
  port,
  proxy,
  range,
  secret,
  size,
  text,
  texts,
  time,
  WORKERS,
  wait,
  yesOrNo,
} from './values.ts'
import { MOST_WORKERS } from './workers.ts'

export { ConfigError, type Fault } from './faults.ts'
export type * from './types.ts'

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
  // A caller is considered gone after eight heartbeats without reading. That wait must fit in a timer too.
  heartbeat: v.optional(wait('1ms', '3d')),
  early_head: v.optional(yesOrNo),
  session_headers: v.optional(v.array(headerName, expects('a list of header names'))),
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

/** A secret that encrypts stored credentials. Short ones could be guessed. */
const encryptionSecret = v.pipe(secret, v.minLength(32, 'has fewer than 32 characters'))
const encryption = fields({
  key: encryptionSecret,
  previous: v.optional(v.array(encryptionSecret, 'expected a list of secrets')),
})

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

const fallbacks = v.array(
  v.union([text, fields({ model: text, on: v.optional(v.array(oneOf(FALLBACK_REASONS), expects('a list'))) })]),
  expects('a list of models'),
)

const group = fields({ ...permissions, channels: v.optional(texts), fallbacks: v.optional(fallbacks) })

const key = fields({
  ...{ name: text, key: credential, group: v.optional(text), note: v.optional(text) },
  ...permissions,
  enabled: v.optional(yesOrNo),
  expires: v.optional(time),
  capture_until: v.optional(time),
  record: v.optional(
    v.union(
      [text, fields({ folder: text, redact: v.optional(listOfTexts()), ignore: v.optional(listOfTexts()) })],
      expects('a folder, or a map of folder, redact and ignore'),
    ),
  ),
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

/** A key of a channel's pool. A limit of 0 would never admit a request. */
const pooledKey = fields({
  key: credential,
  weight: v.optional(number('a number, 0 or more', 0, false)),
  rpm: v.optional(number('a whole number, 1 or more', 1, true)),
  tpm: v.optional(number('a whole number, 1 or more', 1, true)),
  concurrent: v.optional(number('a whole number, 1 or more', 1, true)),
})

/** The sign-in of a channel at a cloud. The type decides which of the fields it needs. */
const auth = fields({
  type: oneOf(AUTH_TYPES),
  ...(Object.fromEntries(
    Object.entries(AUTH_FIELDS).map(([field, isSecret]) => [field, v.optional(isSecret ? secret : text)]),
  ) as { readonly [F in keyof typeof AUTH_FIELDS]: v.OptionalSchema<typeof secret | typeof text, undefined> }),
})

/** A part of an address, such as a region. */
const addressPart = v.pipe(text, v.regex(/^[A-Za-z0-9][\w.:-]*$/, 'has a character that an address cannot hold'))

/** A channel. Channels of the store are checked one by one. */
export const CHANNEL_SCHEMA = fields({
  name: text,
  provider: text,
  folder: v.optional(text),
  formats: v.optional(upstreamFormats(listOfTexts())),
  base_url: v.optional(
    v.union([address, urlsByFormat(mapOf(address))], expects('an address, or a map of them by format')),
  ),
  key: v.optional(credential),
  keys: v.optional(
    v.array(
      v.union([credential, pooledKey], 'expected a key, or a map of key, weight, rpm, tpm and concurrent'),
      'expected a list of keys',
    ),
  ),
  keys_share_account: v.optional(yesOrNo),
  auth: v.optional(auth),
  region: v.optional(addressPart),
  project: v.optional(addressPart),
  resource: v.optional(addressPart),
  workspace: v.optional(addressPart),
  api_version: v.optional(addressPart),
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

/** What the config states of a model. */
export const MODEL_SCHEMA = fields({
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
  fallbacks: v.optional(fallbacks),
  order: v.optional(oneOf(MODEL_ORDERS)),
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
  encryption: v.optional(encryption),
  redis: v.optional(redis),
  usage: v.optional(usage),
  capture: v.optional(capture),
  metrics: v.optional(metrics),
  traces: v.optional(traces),
  console: v.optional(console),
  groups: v.optional(mapOf(group)),
  keys: v.optional(v.array(key, expects('a list'))),
  channels: v.optional(v.array(CHANNEL_SCHEMA, expects('a list'))),
  models: v.optional(mapOf(MODEL_SCHEMA)),
})

/** A validated config with units resolved, before defaults. */
export type WrittenConfig = v.InferOutput<typeof CONFIG_SCHEMA>
