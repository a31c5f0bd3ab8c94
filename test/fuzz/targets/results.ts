import { BufferedBytes } from '../../../src/canonical/bytes.ts'
import { GatewayError } from '../../../src/canonical/error.ts'
import { isObject, type JsonObject } from '../../../src/canonical/node.ts'
import type { CanonicalRequest } from '../../../src/canonical/request.ts'
import type { CanonicalResult } from '../../../src/canonical/result.ts'
import type { WireAnswer } from '../../../src/canonical/wire.ts'
import { workOf } from '../../../src/canonical/work.ts'
import { WRITERS } from '../../../src/egress/index.ts'
import { checkedResult } from '../../../src/gateway/read-result.ts'
import { READERS } from '../../../src/ingress/index.ts'
import { bodiesIn } from '../../builders/fixtures.ts'
import { asked } from '../../laws/arbitrary-result.ts'
import { orRefused, told, writersFor } from '../../laws/journeys.ts'
import { resultMeaning } from '../../laws/same.ts'
import { ANSWERS, WIRES } from '../../laws/wires.ts'
import { sampled } from '../seeds.ts'
import { expectSame, type Target, type Watch } from '../target.ts'

/* Whole answers of upstreams. They are read or are none of the format, and what was read is told to any caller. */

const JSON_ANSWERS = ANSWERS.map(
  ([name, format, answers, request]): Target => ({
    name: `result:${name.replace(': ', '-')}`,
    inputs: `answers of upstreams in the format ${format} to ${workOf(request)}`,
    files: filesOf(format),
    seeds: seed => [...sampled(answers, seed), ...(name === format ? bodiesIn(format, 'result.json') : [])],
    run: (input, watch) => {
      if (isObject(input)) check(format, { status: 200, headers: {}, body: input }, request, watch)
    },
  }),
)

/** Formats whose whole answers are no JSON: texts, or bytes. */
const RAW_ANSWERS = Object.entries(WIRES).flatMap(([format, { raw }]): Target[] =>
  raw === undefined || READERS[format]!.result === undefined
    ? []
    : [
        {
          name: `result:${format}`,
          inputs: `answers of upstreams in the format ${format}, as text or bytes`,
          files: filesOf(format),
          seeds: seed => sampled(raw, seed),
          run: (input, watch) => {
            const answer = isObject(input) ? rawAnswer(input) : undefined
            if (answer !== undefined) check(format, answer, asked, watch)
          },
        },
      ],
)

export const RESULTS: readonly Target[] = [...JSON_ANSWERS, ...RAW_ANSWERS]

function filesOf(format: string): RegExp {
  return new RegExp(`^src/ingress/${format}/(?!request|wire|[^/]*event)`)
}

function rawAnswer({ body, raw }: JsonObject): WireAnswer | undefined {
  const { mediaType, text, bytes } = isObject(raw) ? raw : {}
  const content =
    typeof text === 'string'
      ? { text }
      : typeof bytes === 'string'
        ? { bytes: new BufferedBytes(Buffer.from(bytes, 'base64')) }
        : undefined
  if (typeof mediaType !== 'string' || content === undefined) return undefined
  return { status: 200, headers: {}, body: isObject(body) ? body : {}, raw: { mediaType, ...content } }
}

function check(format: string, answer: WireAnswer, request: CanonicalRequest, watch: Watch): void {
  const result = read(format, answer, request, watch)
  if (result === undefined) return
  watch.returned(result)
  const callers = writersFor(workOf(request))
  if (callers.length > 0) told(watch.dice.one(callers), result, request)
  watch.unmeasured(() => isRepeatable(format, result, request))
}

function read(
  format: string,
  answer: WireAnswer,
  request: CanonicalRequest,
  watch: Watch,
): CanonicalResult | undefined {
  try {
    return checkedResult(READERS[format]!.result!(answer, request), request, false)
  } catch (thrown) {
    if (!(thrown instanceof GatewayError) || thrown.error.kind === 'internal') throw thrown
    watch.said(thrown.message)
    return undefined
  }
}

/** An answer that is written for a caller of its own format is read again as the same answer. */
function isRepeatable(format: string, result: CanonicalResult, request: CanonicalRequest): void {
  const writer = WRITERS[format]?.result
  if (writer === undefined) return
  const once = orRefused(() => writer(result, request).wire)
  if (once === undefined) return
  const again = READERS[format]!.result!(JSON.parse(JSON.stringify(once)) as WireAnswer, request)
  const twice = orRefused(() => writer(again, request).wire)
  expectSame('round trip', resultMeaning(again), resultMeaning(result))
  expectSame('round trip of what was written', twice, once)
}
