import { GatewayError } from '../canonical/error.ts'
import type { CanonicalEvent } from '../canonical/event.ts'
import { fold } from '../canonical/fold.ts'
import { type JsonObject, parseObject } from '../canonical/node.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { CanonicalResult } from '../canonical/result.ts'
import { type Answer, flat, forwardable, single } from '../channel.ts'
import { WRITERS } from '../egress/index.ts'
import { jsonText } from '../egress/json.ts'
import { lossHeaders, shown } from '../egress/losses.ts'
import type { Reader } from '../ingress/reader.ts'
import { eventParser } from '../ingress/sse.ts'
import type { Attempt } from './attempt.ts'
import { dresser } from './dress.ts'
import { seenFromOutside } from './failures.ts'

/** Bytes a whole answer may have: a few large pictures in base64. */
const LARGEST = 128 * 1024 * 1024

/** Reads an upstream's answer to its end and writes it to the caller in one piece, with what was lost either way. */
export async function whole(attempt: Attempt, answer: Answer, reader: Reader): Promise<void> {
  const { call, request, candidate, prepared, report } = attempt
  const raw = await readWhole(answer, reader, prepared.asked)
  const restored = prepared.restorer?.result(raw) ?? raw
  const result = dresser(
    call.id,
    request.model,
    candidate,
  )(
    restored.error === undefined
      ? restored
      : { ...restored, error: seenFromOutside(restored.error, candidate, request.model) },
  )
  const { wire, losses } = WRITERS[call.format]!.result!(result, request)
  const told = [...shown(prepared.losses), ...shown(losses).filter(({ path }) => path[0] === 'candidates')]
  report.answered(result, told.length)
  const headers = { ...wire.headers, ...lossHeaders(told), ...(candidate.native ? forwardable(answer.headers) : {}) }
  call.reply.whole(wire.status, headers, jsonText(wire.body))
}

/**
 * An upstream's answer as one result, also where it streams unasked.
 *
 * @throws GatewayError where it broke off, is no answer of its format, or is nothing but an error.
 */
export async function readWhole(answer: Answer, reader: Reader, asked: CanonicalRequest): Promise<CanonicalResult> {
  const streams = single(answer.headers['content-type']).startsWith('text/event-stream')
  const text = await answer.text(LARGEST)
  const result = streams
    ? fold(eventsIn(text, reader, asked))
    : reader.result!({ status: answer.status, headers: flat(answer.headers), body: bodyIn(text) }, asked)
  if (result.error !== undefined && (streams || result.candidates.length === 0)) throw new GatewayError(result.error)
  return result
}

function bodyIn(text: string): JsonObject {
  const body = parseObject(text)
  if (body !== undefined) return body
  throw new GatewayError({ kind: 'upstream-failed', message: 'The upstream answered something that is not JSON.' })
}

function eventsIn(text: string, reader: Reader, asked: CanonicalRequest): CanonicalEvent[] {
  const parser = eventParser()
  const machine = reader.events!(asked)
  const wire = [...parser.push(Buffer.from(text)), ...parser.end()]
  return [...wire.flatMap(event => machine.push(event)), ...machine.end()]
}
