import * as v from 'valibot'
import { ERRORS, FAILURE_REASONS } from '../../canonical/error.ts'
import { fields, instant, listOf, oneOf } from '../../config/schema.ts'

/** Kind of an error, from the same list that callers see in their errors. */
export const errorKind = oneOf(Object.keys(ERRORS))
/** Reason for a failure, for operators only. Callers never see it. */
export const failureReason = oneOf([...FAILURE_REASONS])

/** Percentiles of durations, in milliseconds. */
export const percentiles = fields({ p50: v.number(), p95: v.number(), p99: v.number() })

/** Details of why a request or an attempt failed. */
export const failure = fields({
  reason: failureReason,
  /** HTTP status of the upstream's answer. */
  status: v.optional(v.number()),
  /** The message of the upstream or the gateway, without credentials and internal addresses. */
  message: v.optional(v.string()),
})

/** A finished request, without its bodies. */
export const REQUEST = fields({
  id: v.string(),
  at: instant,
  key: v.optional(v.string()),
  key_name: v.optional(v.string()),
  group: v.optional(v.string()),
  model: v.optional(v.string()),
  upstream_model: v.optional(v.string()),
  channel: v.optional(v.string()),
  /** Path of the endpoint that the caller used, as its route declares it. */
  door: v.string(),
  /** Format of the caller. */
  format: v.string(),
  upstream_format: v.optional(v.string()),
  stream: v.boolean(),
  attempts: v.number(),
  status: v.number(),
  error: v.optional(v.string()),
  failure: v.optional(failure),
  finish: v.optional(v.string()),
  upstream_id: v.optional(v.string()),
  input_tokens: v.optional(v.number()),
  output_tokens: v.optional(v.number()),
  cache_read_tokens: v.optional(v.number()),
  cache_write_tokens: v.optional(v.number()),
  reasoning_tokens: v.optional(v.number()),
  input_audio_tokens: v.optional(v.number()),
  output_audio_tokens: v.optional(v.number()),
  cost: v.optional(v.number()),
  /** True if tokens and cost are estimated, because the upstream reported no final count. */
  estimated: v.optional(v.boolean()),
  losses: v.number(),
  // The times count from the start of the request.
  /** Time at which the gateway had read the request. */
  read_after_ms: v.optional(v.number()),
  /** Time at which the request was sent to the upstream that answered. */
  sent_after_ms: v.optional(v.number()),
  /** Time at which that upstream's answer began. */
  answered_after_ms: v.optional(v.number()),
  /** Time of the first byte sent to the caller. */
  first_byte_after_ms: v.optional(v.number()),
  /** Time at which the answer ended. */
  duration_ms: v.number(),
  /** True if a capture of the request exists. */
  captured: v.boolean(),
  /** All attempts except the last. */
  tries: v.optional(
    listOf(
      fields({
        channel: v.string(),
        upstream_model: v.string(),
        /** Start and end of the attempt, counted from the start of the request. */
        ...{ sent_after_ms: v.number(), ended_after_ms: v.number() },
        failure: v.optional(failure),
      }),
    ),
  ),
})

/** A group of equal failures. */
export const FAILURE = fields({
  ...failure.entries,
  error: v.optional(errorKind),
  channel: v.optional(v.string()),
  model: v.optional(v.string()),
  count: v.number(),
  /** Time of the first failure. */
  first_at: instant,
  /** Time of the latest failure. */
  at: instant,
  /** Id of the request that failed last. */
  request: v.string(),
})
