import { type Bytes, gathered } from '../canonical/bytes.ts'
import type { MediaPart, Part } from '../canonical/content.ts'
import { GatewayError } from '../canonical/error.ts'
import type { RawBody } from '../canonical/exchange.ts'
import type { Loss } from '../canonical/loss.ts'
import type { CanonicalResult } from '../canonical/result.ts'
import { WRITERS } from '../egress/index.ts'
import { jsonText } from '../egress/json.ts'
import { lossHeaders, shown } from '../egress/losses.ts'
import type { Attempt } from './attempt.ts'
import type { Reply } from './call.ts'
import { dresser } from './dress.ts'
import { seenFromOutside } from './failures.ts'
import { LARGEST } from './whole.ts'

/** A whole answer on its way to the caller. */
export interface Answered {
  readonly result: CanonicalResult
  /** What the request lost. */
  readonly losses: readonly Loss[]
  /** What else the caller is told in headers. */
  readonly headers: { readonly [name: string]: string }
}

/** Writes a whole answer to the caller, with what was lost either way. */
export async function told(attempt: Attempt, answered: Answered): Promise<void> {
  const { call, request, candidate, report } = attempt
  const { error, ...rest } = answered.result
  const safe = error === undefined ? rest : { ...rest, error: seenFromOutside(error, candidate, request.model) }
  const writer = WRITERS[call.format]!
  const held = writer.bytes === true ? safe : await withoutBytes(safe)
  const { wire, losses } = writer.result!(dresser(call.id, request.model, candidate)(held), request)
  const lost = [...shown(answered.losses), ...shown(losses).filter(({ path }) => path[0] === 'candidates')]
  report.answered(answered.result, lost.length)
  const headers = { ...wire.headers, ...lossHeaders(lost), ...answered.headers }
  if (wire.raw === undefined) call.reply.whole(wire.status, headers, jsonText(wire.body))
  else await relay(call.reply, headers, wire.raw)
}

async function relay(reply: Reply, headers: Answered['headers'], raw: RawBody): Promise<void> {
  const about = { 'content-type': raw.mediaType, ...headers }
  if ('text' in raw) reply.whole(200, about, raw.text)
  else {
    const { size } = raw.bytes
    reply.begin(size === undefined ? about : { ...about, 'content-length': String(size) })
    for await (const piece of raw.bytes.read()) {
      if (!reply.write(piece) && !reply.gone) await new Promise<void>(resolve => taken(reply, resolve))
      if (reply.gone) return
    }
    reply.end('')
  }
}

/** The reader has caught up, or will never. */
function taken(reply: Reply, done: () => void): void {
  const before = reply.onGone
  reply.onGone = () => {
    before?.()
    done()
  }
  reply.once('drain', done)
}

/** The result with media as base64: few formats take bytes as they are. */
export async function withoutBytes(result: CanonicalResult): Promise<CanonicalResult> {
  if (!result.candidates.some(({ content }) => content.some(hasBytes))) return result
  const candidates = result.candidates.map(async candidate => ({
    ...candidate,
    content: await Promise.all(candidate.content.map(part => (hasBytes(part) ? inBase64(part) : part))),
  }))
  return { ...result, candidates: await Promise.all(candidates) }
}

const hasBytes = (part: Part): part is MediaPart => part.type === 'media' && part.source.type === 'bytes'

/** A part whose source is bytes, with base64 instead. Rejects with GatewayError `too-large` for more than can be held. */
export async function inBase64(part: MediaPart): Promise<MediaPart> {
  const { mediaType, bytes } = part.source as { mediaType: string; bytes: Bytes }
  const held = await gathered(bytes, LARGEST)
  if (held === undefined)
    throw new GatewayError({ kind: 'too-large', message: `Media of more than ${LARGEST} bytes cannot be translated.` })
  return { ...part, source: { type: 'base64', mediaType, data: held.toString('base64') } }
}
