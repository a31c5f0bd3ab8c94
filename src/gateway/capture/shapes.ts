import * as v from 'valibot'
import { fields, instant, listOf } from '../../config/schema.ts'

/* What was captured of a request. Places are JSON pointers (RFC 6901). */

const texts = v.record(v.string(), v.string())

/** Of a body the kind that it is: JSON, text, events with their times, files of a form, or only its size. */
const body = {
  body: v.optional(v.unknown()),
  text: v.optional(v.string()),
  /** With milliseconds from the beginning of the request. */
  events: v.optional(listOf(fields({ ms: v.number(), event: v.optional(v.string()), data: v.string() }))),
  /** Of a form: its files, which are not kept. */
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
  /** Bytes that are neither JSON nor text are not kept, only how many they were. */
  bytes: v.optional(v.number()),
}

/** Without its body, below the base address. */
const wire = fields({ path: v.string(), query: v.record(v.string(), v.unknown()), headers: texts })

const loss = fields({
  kind: v.string(),
  reason: v.string(),
  /** Its place in the canonical request. */
  path: listOf(v.union([v.string(), v.number()])),
  /** Its place in the caller's body. */
  pointer: v.optional(v.string()),
  /** Undone on the way back. */
  restored: v.optional(v.literal(true)),
})

const attempt = fields({
  ...{ channel: v.string(), format: v.string(), upstream_model: v.string(), native: v.boolean() },
  ...{ sent_after_ms: v.number(), ended_after_ms: v.optional(v.number()) },
  losses: listOf(loss),
  /** Absent where it was refused before it was sent. */
  request: v.optional(fields({ origin: v.string(), path: v.string(), query: texts, headers: texts, wire, ...body })),
  answer: v.optional(fields({ status: v.number(), headers: texts, after_ms: v.number(), whole: v.boolean(), ...body })),
  error: v.optional(fields({ kind: v.string(), message: v.string() })),
})

export const CAPTURE = fields({
  ...{ id: v.string(), at: instant, key: v.string(), key_name: v.string(), model: v.optional(v.string()) },
  /** The request that this one repeats. */
  replay_of: v.optional(v.string()),
  caller: fields({
    ...{ format: v.string(), path: v.string(), query: texts, headers: texts },
    /** Absent where the endpoint did not take it. */
    wire: v.optional(wire),
    ...body,
  }),
  canonical: v.optional(v.unknown()),
  attempts: listOf(attempt),
  /** Further requests to upstreams, which are not kept. */
  omitted_attempts: v.optional(v.number()),
  returned: fields({
    /** No status where the caller left before it was answered. */
    ...{ status: v.optional(v.number()), headers: texts, after_ms: v.optional(v.number()), whole: v.boolean() },
    /** What the upstream's answer lost on its way to the caller's format. */
    losses: listOf(loss),
    ...body,
  }),
  /** The kind of the error that it ended with. */
  error: v.optional(v.string()),
  /** Places in this answer of what was cut. */
  cut: listOf(v.string()),
})

/** All that is shown of a captured request; `at` is Unix time in milliseconds. */
export type CaptureDocument = Omit<v.InferOutput<typeof CAPTURE>, 'at'> & { readonly at: number }

export type CapturedAttempt = CaptureDocument['attempts'][number]
export type CapturedLoss = v.InferOutput<typeof loss>
export type CapturedError = NonNullable<CapturedAttempt['error']>
export type WirePlace = v.InferOutput<typeof wire>
export type CapturedBody = Pick<CaptureDocument['caller'], keyof typeof body>
export type CapturedEvent = NonNullable<CapturedBody['events']>[number]
export type CapturedFile = NonNullable<CapturedBody['files']>[number]

/** Files below `fixtures/`. */
export const FIXTURE = fields({ files: listOf(fields({ name: v.string(), content: v.string() })) })
