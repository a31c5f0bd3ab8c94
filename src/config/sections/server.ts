import * as v from 'valibot'
import { optional, required } from '../setting.ts'
import {
  address,
  count,
  expects,
  expectsKind,
  fields,
  headerName,
  mapOf,
  number,
  origin,
  port,
  range,
  size,
  text,
  WORKERS,
  wait,
  yesOrNo,
} from '../values.ts'
import { MAX_WORKERS } from '../workers.ts'

const workers = v.union(
  [v.literal('auto'), v.pipe(number(WORKERS, 1, true), v.maxValue(MAX_WORKERS, expects(WORKERS)))],
  expects(`"auto" or ${WORKERS}`),
)

/** Limits of one WebSocket connection of the responses format. */
const sockets = fields({
  lifetime: optional(wait(), 'Maximum duration of a connection.', '60m'),
  idle: optional(wait(), 'Maximum time without a message.', '30m'),
  queue: optional(count(), 'Maximum number of queued turns while another is answered.', 16),
  turns: optional(count(), 'Maximum number of unstored earlier turns that can be continued.', 1024),
  memory: optional(size, 'Maximum size of all unstored earlier turns.', '16MiB'),
})

const limits = fields({
  json_body: optional(size, 'Maximum size of a request body.', '32MiB'),
  doors: optional(
    mapOf(size),
    'Maximum body sizes by format, which replace `json_body`. The default for forms is 2GiB.',
  ),
  waiting: optional(
    fields({
      key: optional(size, 'Maximum per key.', '256MiB'),
      all: optional(size, 'Maximum for all keys.', '1GiB'),
    }),
    'Memory for incomplete bodies and WebSocket messages; 503 above it.',
  ),
  spooled: optional(
    fields({ key: optional(size, 'Maximum per key.', '8GiB'), all: optional(size, 'Maximum for all keys.', '32GiB') }),
    'Disk space for large files of incomplete forms; 503 above it.',
  ),
  connections: optional(count(), 'Maximum number of open WebSockets per key and process.', 1000),
})

const tls = fields({
  cert: required(text, 'File of the certificate chain, in PEM.'),
  key: required(text, 'File of the private key, in PEM.'),
})

/** The listener. */
export const server = fields({
  host: optional(text, 'Address to listen on.', '127.0.0.1'),
  port: optional(port, 'Port to listen on. 0 takes any free port.', 4747),
  workers: optional(workers, 'Number of processes behind the port; `auto` starts one per core.', 1),
  tls: optional(
    tls,
    'Certificate for HTTPS and WSS on the port. Changed files are read again. Without it, the port uses plain HTTP.',
  ),
  trusted_proxies: optional(
    v.array(range, expectsKind('a list of addresses')),
    'Proxies whose `x-forwarded-for`, `-proto` and `-host` are trusted.',
    [],
  ),
  public_url: optional(
    v.union([address, v.array(address)], expectsKind('an address, or a list of them')),
    'Public URLs of the gateway. Links to images and videos start with the URL that a request used; without this ' +
      'setting, they are derived from each request.',
  ),
  cors: optional(
    v.array(origin, expectsKind('a list of origins')),
    'Origins whose pages may call the gateway from browsers; `"*"` allows any.',
    [],
  ),
  // A caller is considered gone after eight heartbeats without reading. This time must also fit in a timer.
  heartbeat: optional(wait('1ms', '3d'), 'Maximum silence of a stream before a heartbeat is sent.', '15s'),
  early_head: optional(
    yesOrNo,
    'Starts a stream after one heartbeat without an upstream answer. After that, no other upstream is tried.',
    true,
  ),
  session_headers: optional(
    v.array(headerName, expectsKind('a list of header names')),
    "Further headers that identify a client's session, whose requests then stay on the channel with its prompt cache.",
  ),
  keep_alive: optional(
    wait('1s', '1d'),
    'Time for which a connection without a request stays open. It must exceed that of a load balancer in front.',
    '75s',
  ),
  drain: optional(
    wait('0s'),
    'Time after SIGTERM in which requests are still accepted, while `/readyz` already reports the shutdown.',
    '5s',
  ),
  grace: optional(wait('0s'), 'Time after `drain` for running answers to finish; the rest end with an error.', '30s'),
  sockets: optional(sockets, 'Limits of one WebSocket at `/v1/responses`.'),
  limits: optional(limits, "Limits that protect the gateway's memory and disk."),
})
