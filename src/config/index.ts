import * as v from 'valibot'
import { group, key } from './sections/callers.ts'
import { channel } from './sections/channels.ts'
import { console } from './sections/console.ts'
import { facts } from './sections/models.ts'
import { server } from './sections/server.ts'
import {
  capture,
  media,
  metrics,
  realtime,
  reasoningMemory,
  responses,
  tasks,
  traces,
  usage,
} from './sections/services.ts'
import { encryption, redis, store } from './sections/store.ts'
import { optional } from './setting.ts'
import { expectsKind, fields, mapOf, proxy, text } from './values.ts'

export { ConfigError, type Fault } from './faults.ts'
export { channel as CHANNEL_SCHEMA } from './sections/channels.ts'
export { facts as MODEL_SCHEMA } from './sections/models.ts'
export type * from './types.ts'

/** The config schema. Every field is optional, so an empty file is valid. */
export const CONFIG_SCHEMA = fields({
  server: optional(server, 'The listener: address, TLS, browsers, limits, heartbeats, stop.'),
  proxy: optional(
    proxy,
    'Proxy for all connections to upstreams, media, OpenID Connect and traces. `HTTPS_PROXY`, `HTTP_PROXY` and ' +
      '`NO_PROXY` by default.',
  ),
  media: optional(media, 'Fetching of media by URL, for upstreams that accept no URLs.'),
  responses: optional(responses, 'Stored responses and conversations.'),
  thoughts: optional(reasoningMemory, 'Reasoning before tool calls, restored if a client does not send it back.'),
  realtime: optional(realtime, 'Voice sessions.'),
  tasks: optional(tasks, 'Videos.'),
  data_dir: optional(text, 'Folder of the SQLite file and of stored videos.', './data'),
  store: optional(
    store,
    'Database: `postgres://user:password@host/database` for several machines, or `sqlite:FILE`. A SQLite file in ' +
      '`data_dir` by default.',
  ),
  encryption: optional(
    encryption,
    'Secrets that encrypt the credentials of stored channels. By default, a secret in the store itself.',
  ),
  redis: optional(
    redis,
    'Redis server through which machines share limits, resting targets and notices of revoked keys.',
  ),
  usage: optional(usage, 'Usage rows.'),
  capture: optional(capture, 'Captured requests.'),
  metrics: optional(metrics, 'Access to `/metrics`.'),
  traces: optional(traces, 'Export of traces. None by default.'),
  console: optional(console, 'The web app at `/console`.'),
  groups: optional(mapOf(group), 'Groups of keys, by name: permissions, and limits of each key.'),
  keys: optional(v.array(key, expectsKind('a list')), 'Fixed keys. `interlingua keys create` makes others.'),
  channels: optional(
    v.array(channel, expectsKind('a list')),
    'Accounts at upstreams. By default, one for each provider whose usual key variable is set.',
  ),
  models: optional(mapOf(facts), 'Facts about models, by name. The catalogue has those of well-known models.'),
})

/** A validated config with units resolved, before defaults. */
export type WrittenConfig = v.InferOutput<typeof CONFIG_SCHEMA>
