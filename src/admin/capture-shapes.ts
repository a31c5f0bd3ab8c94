import * as v from 'valibot'
import { fields, instant, listOf } from './schema.ts'

/* What was captured of a request. Places are JSON pointers (RFC 6901). */

const texts = v.record(v.string(), v.string())

/** Of a body the kind that it is: JSON, text, events with their times, files of a form, or only its size. */
const body = {
  body: v.optional(v.unknown()),
  text: v.optional(v.string()),
  events: v.optional(listOf(fields({ ms: v.number(), event: v.optional(v.string()), data: v.string() }))),
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
  bytes: v.optional(v.number()),
}

const wire = fields({ path: v.string(), query: v.record(v.string(), v.unknown()), headers: texts })

const loss = fields({
  kind: v.string(),
  reason: v.string(),
  path: listOf(v.union([v.string(), v.number()])),
  /** Its place in the caller's body. */
  pointer: v.optional(v.string()),
  restored: v.optional(v.literal(true)),
})

const attempt = fields({
  ...{ channel: v.string(), format: v.string(), upstream_model: v.string(), native: v.boolean() },
  ...{ sent_after_ms: v.number(), ended_after_ms: v.optional(v.number()) },
  losses: listOf(loss),
  request: v.optional(fields({ origin: v.string(), path: v.string(), query: texts, headers: texts, wire, ...body })),
  answer: v.optional(fields({ status: v.number(), headers: texts, after_ms: v.number(), whole: v.boolean(), ...body })),
  error: v.optional(fields({ kind: v.string(), message: v.string() })),
})

export const CAPTURE = fields({
  ...{ id: v.string(), at: instant, key: v.string(), key_name: v.string(), model: v.optional(v.string()) },
  replay_of: v.optional(v.string()),
  caller: fields({
    ...{ format: v.string(), path: v.string(), query: texts, headers: texts },
    wire: v.optional(wire),
    ...body,
  }),
  canonical: v.optional(v.unknown()),
  attempts: listOf(attempt),
  omitted_attempts: v.optional(v.number()),
  returned: fields({
    ...{ status: v.optional(v.number()), headers: texts, after_ms: v.optional(v.number()), whole: v.boolean() },
    losses: listOf(loss),
    ...body,
  }),
  error: v.optional(v.string()),
  /** Places in this answer of what was cut. */
  cut: listOf(v.string()),
})

/** Files below `fixtures/`. */
export const FIXTURE = fields({ files: listOf(fields({ name: v.string(), content: v.string() })) })
