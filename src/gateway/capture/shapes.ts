import * as v from 'valibot'
import { fields, instant, listOf, oneOf } from '../../config/schema.ts'

/* Schemas of captured requests. Paths are JSON pointers (RFC 6901) unless noted otherwise. */

const texts = v.record(v.string(), v.string())

/** The body of a message, in the field for its kind: JSON, text, events with times, form files, or only its size. */
const body = {
  body: v.optional(v.unknown()),
  text: v.optional(v.string()),
  /** Events of a stream. `ms` is the time since the start of the request. */
  events: v.optional(listOf(fields({ ms: v.number(), event: v.optional(v.string()), data: v.string() }))),
  /** Files of a form. Their content is not stored. */
  files: v.optional(
    listOf(
      fields({
        field: v.string(),
        name: v.optional(v.string()),
        media_type: v.string(),
        size: v.optional(v.number()),
      }),
    ),
  ),
  /** Size of a body that is neither JSON nor text. Its content is not stored. */
  bytes: v.optional(v.number()),
}

/** Path, query and headers of a message. The path is relative to the base URL. */
const wire = fields({ path: v.string(), query: v.record(v.string(), v.unknown()), headers: texts })

const loss = fields({
  kind: v.string(),
  reason: v.string(),
  /** Path in the canonical request. */
  path: listOf(v.union([v.string(), v.number()])),
  /** JSON pointer into the caller's body. */
  pointer: v.optional(v.string()),
  /** True if the gateway restored the value in the answer. */
  restored: v.optional(v.boolean()),
})

const attempt = fields({
  ...{ channel: v.string(), format: v.string(), upstream_model: v.string(), native: v.boolean() },
  ...{ sent_after_ms: v.number(), ended_after_ms: v.optional(v.number()) },
  losses: listOf(loss),
  /** Request that the attempt sent. Absent if it failed before sending. */
  request: v.optional(fields({ origin: v.string(), path: v.string(), query: texts, headers: texts, wire, ...body })),
  answer: v.optional(fields({ status: v.number(), headers: texts, after_ms: v.number(), whole: v.boolean(), ...body })),
  error: v.optional(fields({ kind: v.string(), message: v.string() })),
})

/** A captured request: the caller's request, its canonical form, all attempts, and the answer. */
export const CAPTURE = fields({
  ...{ id: v.string(), at: instant, key: v.string(), key_name: v.string(), model: v.optional(v.string()) },
  /** Id of the request that this one resends. */
  replay_of: v.optional(v.string()),
  /** Fact that identified the conversation, if it decided between channels or keys. */
  affinity: v.optional(v.string()),
  caller: fields({
    ...{ format: v.string(), path: v.string(), query: texts, headers: texts },
    /** The request in its format's wire form. Absent if the endpoint rejected the body. */
    wire: v.optional(wire),
    ...body,
  }),
  canonical: v.optional(v.unknown()),
  attempts: listOf(attempt),
  /** Number of further attempts that are not stored. */
  omitted_attempts: v.optional(v.number()),
  returned: fields({
    /** `status` is absent if the caller disconnected before the answer. */
    ...{ status: v.optional(v.number()), headers: texts, after_ms: v.optional(v.number()), whole: v.boolean() },
    /** Losses of the upstream's answer in the caller's format. */
    losses: listOf(loss),
    ...body,
  }),
  /** Kind of the error that ended the request. */
  error: v.optional(v.string()),
  /** JSON pointers into this document to values that were truncated. */
  cut: listOf(v.string()),
})

/** A captured request for display. `at` is Unix time in milliseconds. */
export type CaptureDocument = Omit<v.InferOutput<typeof CAPTURE>, 'at'> & { readonly at: number }

export type CapturedAttempt = CaptureDocument['attempts'][number]
export type CapturedLoss = v.InferOutput<typeof loss>
export type CapturedError = NonNullable<CapturedAttempt['error']>
export type WireTarget = v.InferOutput<typeof wire>
export type CapturedBody = Pick<CaptureDocument['caller'], keyof typeof body>
export type CapturedEvent = NonNullable<CapturedBody['events']>[number]
export type CapturedFile = NonNullable<CapturedBody['files']>[number]

/** Recording of one side of a request: the name and text of its file, or the reason why it is missing. */
export const SIDE_RECORDING = fields({
  side: oneOf(['caller', 'upstream']),
  name: v.optional(v.string()),
  content: v.optional(v.string()),
  missing: v.optional(oneOf(['cut', 'form', 'unanswered'])),
})

/** Files of a fixture. Their names are relative to `fixtures/`. */
export const FIXTURE = fields({ files: listOf(fields({ name: v.string(), content: v.string() })) })
