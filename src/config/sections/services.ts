import * as v from 'valibot'
import { optional, required, withValueKind } from '../setting.ts'
import {
  address,
  count,
  credential,
  duration,
  expects,
  expectsKind,
  fields,
  headers,
  number,
  port,
  range,
  size,
  text,
  wait,
  yesOrNo,
} from '../values.ts'

/** A duration, or 0 to turn the feature off. */
const retention = (usual: string) =>
  withValueKind(
    'duration, or 0',
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

/** Fetching of media that callers send as URLs. */
export const media = fields({
  fetch: optional(yesOrNo, 'Whether the gateway fetches media for upstreams that accept no URLs.', true),
  limit: optional(size, 'Maximum size of one file.', '20MiB'),
  count: optional(count(), 'Maximum number of files in a request; 413 above it.', 100),
  total: optional(size, 'Maximum size of all files in a request; 413 above it.', '32MiB'),
  timeout: optional(wait(), 'Maximum time to fetch all files of a request.', '20s'),
  allow: optional(
    v.array(range, expectsKind('a list of addresses')),
    'Non-public addresses from which files may be fetched.',
    [],
  ),
})

/** Stored responses and conversations. */
export const responses = fields({
  keep: optional(retention('30d'), 'Retention time; 0 stores none.', '30d'),
  background: optional(count(), 'Maximum number of background responses of a key, over all processes.', 20),
})

/** Remembered reasoning. */
export const reasoningMemory = fields({
  keep: optional(retention('2h'), 'Retention time after the last use; 0 stores none.', '2h'),
  memory: optional(size, 'Maximum size of the reasoning of all callers.', '64MiB'),
})

const cascade = fields({
  transcription: required(text, 'Model that transcribes what the user says.'),
  speech: required(text, 'Model that speaks the answers.'),
  voice: optional(text, 'Default voice of sessions.'),
})

/** Voice sessions. */
export const realtime = fields({
  lifetime: optional(wait(), 'Maximum duration of a session.', '60m'),
  idle: optional(wait(), 'Maximum time without a message.', '10m'),
  message: optional(size, 'Maximum size of a message, in either direction.', '20MiB'),
  buffer: optional(size, 'Maximum data buffered for a client that reads slowly; close code 1013 above it.', '4MiB'),
  sessions: optional(
    fields({
      key: optional(count(), 'Maximum per key, over all processes.', 100),
      all: optional(count(), 'Maximum per process.', 1000),
    }),
    'Open sessions.',
  ),
  browser_keys: optional(
    yesOrNo,
    'Whether keys of web pages are accepted as the subprotocol `openai-insecure-api-key.KEY`. Client secrets always are, and keys of programs that send no `Origin`.',
    false,
  ),
  cascade: optional(
    cascade,
    'Lets any conversation model hold voice sessions, with separate requests for transcription and speech.',
  ),
})

/** First segments of the paths of all other endpoints. Paths are matched without regard to case. */
const TAKEN_SEGMENT =
  /^(?:v\d.*|healthz|readyz|metrics|admin|console|model|bedrock|openai|projects|publishers|inference-profiles)$/i

/** A path segment that does not collide with other endpoints. */
const segment = withValueKind(
  'path segment',
  v.pipe(
    text,
    v.check(
      value => /^[a-z0-9][a-z0-9._-]*$/i.test(value) && !TAKEN_SEGMENT.test(value),
      expects('a segment of a path such as videovendor'),
    ),
  ),
)

/** Video tasks. */
export const tasks = fields({
  poll: optional(
    retention('10s'),
    'Interval between background polls of unfinished tasks; with 0, tasks are polled only when callers ask for them.',
    '10s',
  ),
  keep: optional(
    retention('7d'),
    'Retention time of finished videos in `data_dir`; 0 leaves them at their upstreams.',
    0,
  ),
  limit: optional(size, 'Maximum size of all stored videos; the oldest are deleted first.', '20GiB'),
  vendor_path: optional(
    segment,
    "First path segment of the endpoints in the video vendor's own format. A change requires a restart.",
    'videovendor',
  ),
})

/** Usage rows. */
export const usage = fields({
  keep: optional(
    retention('90d'),
    'Retention time of usage rows: one per request, without content; 0 records none. Sums are stored longer.',
    '90d',
  ),
})

/** Captured requests. */
export const capture = fields({
  keep: optional(retention('24h'), 'Retention time; 0 disables captures.', '24h'),
  limit: optional(size, 'Maximum size of all captures; the oldest are deleted first.', '256MiB'),
})

/** Access to the metrics page. */
export const metrics = fields({
  host: optional(text, 'Address of the separate port. 127.0.0.1 by default.'),
  port: optional(port, 'Separate port that serves `/metrics` without a key.'),
  key: optional(credential, "Key that reads `/metrics` at the gateway's address. Admin tokens always do."),
})

const share = 'a share from 0 to 1'

/** Traces. */
export const traces = fields({
  otlp: required(address, 'URL of an OpenTelemetry collector, for OTLP over HTTP.'),
  headers: optional(headers, 'Headers sent to the collector.'),
  sample: optional(
    withValueKind('number from 0 to 1', v.pipe(number(share, 0, false), v.maxValue(1, expects(share)))),
    'Share of the requests to trace, unless the caller sends a sampling decision.',
    1,
  ),
})
