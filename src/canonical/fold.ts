import type { Part } from './content.ts'
import type { At, CanonicalEvent, PartDelta, PartPatch } from './event.ts'
import { longer, wider } from './lists.ts'
import type { Node } from './node.ts'
import type { Candidate, CanonicalResult, Transcript } from './result.ts'

/** The one text of a part that grows while it streams. */
export function bodyOf(part: Part): string {
  switch (part.type) {
    case 'text':
    case 'reasoning':
    case 'refusal':
      return part.text
    case 'tool-call':
      return part.arguments
    case 'media':
      return part.source.type === 'base64' ? part.source.data : ''
    default:
      return ''
  }
}

/** The same part with another body; a part that does not grow stays as it is. */
export function withBody(part: Part, body: string): Part {
  switch (part.type) {
    case 'text':
    case 'reasoning':
    case 'refusal':
      return { ...part, text: body }
    case 'tool-call':
      return { ...part, arguments: body }
    case 'media':
      return part.source.type === 'base64' ? { ...part, source: { ...part.source, data: body } } : part
    default:
      return part
  }
}

const HOLE: Part = { type: 'text', text: '' }
export const EMPTY: CanonicalResult = { candidates: [] }

/**
 * Applies one event to the result so far. Total: an event out of order never throws. The result is not mutated, unless
 * its lists are the caller's `own`.
 */
export function step(result: CanonicalResult, event: CanonicalEvent, own = false): CanonicalResult {
  switch (event.type) {
    case 'result-start': {
      const { type: _, ...head } = event
      return { ...result, ...head }
    }
    case 'part-start':
      return atPart(result, event.at, own, () => event.part)
    case 'part-delta':
      return atPart(result, event.at, own, part => grown(part, event))
    case 'part-patch':
      return atPart(result, event.at, own, part => patched(part, event, own))
    case 'logprobs':
      return atCandidate(result, event.candidate, own, candidate => ({
        ...candidate,
        logprobs: longer(candidate.logprobs, event.append, own),
      }))
    case 'transcript':
      return atCandidate(result, event.candidate, own, candidate => ({
        ...candidate,
        transcript: further(candidate.transcript, event.transcript, own),
      }))
    case 'candidate-end':
      return atCandidate(result, event.candidate, own, candidate => ({
        ...candidate,
        ...(event.finish === undefined ? {} : { finish: event.finish }),
        ...merged(candidate, event, own),
      }))
    case 'usage':
      return { ...result, usage: event.usage }
    case 'error':
      return { ...result, error: event.error }
    case 'result-end':
      return {
        ...result,
        ...(event.serviceTier === undefined ? {} : { serviceTier: event.serviceTier }),
        ...merged(result, event, own),
      }
    case 'part-end':
    case 'preview':
    case 'opaque':
      return result
  }
}

/** The result a stream of events amounts to; any prefix is a valid partial result. */
export function fold(events: Iterable<CanonicalEvent>, from: CanonicalResult = EMPTY): CanonicalResult {
  let result = ownLists(from)
  for (const event of events) result = step(result, event, true)
  return result
}

/** A copy whose lists may be appended to: copying them for every event would take quadratic time. */
const ownLists = (result: CanonicalResult): CanonicalResult => ({
  ...result,
  candidates: result.candidates.map(candidate => ({ ...candidate, content: [...candidate.content] })),
})

/** The shortest stream that folds to the result. */
export function* unfold(result: CanonicalResult): Generator<CanonicalEvent> {
  const { candidates, usage, error, ...head } = result
  yield { type: 'result-start', ...head }
  for (const [candidate, { content, finish, logprobs, transcript, ...node }] of candidates.entries()) {
    for (const [index, part] of content.entries()) yield* unfoldPart(part, { candidate, part: index })
    if (logprobs !== undefined) yield { type: 'logprobs', candidate, append: logprobs }
    if (transcript !== undefined) yield { type: 'transcript', candidate, transcript }
    yield { type: 'candidate-end', candidate, ...(finish === undefined ? {} : { finish }), ...node }
  }
  if (usage !== undefined) yield { type: 'usage', usage }
  yield error === undefined ? { type: 'result-end' } : { type: 'error', error }
}

/** The events of a whole part. */
export function* unfoldPart(part: Part, at: At): Generator<CanonicalEvent> {
  yield* openingEvents(part, at)
  yield { type: 'part-end', at }
}

/** The events that open a part and fill it; its end is not among them. */
export function* openingEvents(part: Part, at: At): Generator<CanonicalEvent> {
  const body = bodyOf(part)
  const { annotations, ...bare } = withBody(part, '') as Part & { annotations?: never }
  yield { type: 'part-start', at, part: bare }
  if (body !== '') yield { type: 'part-delta', at, append: body }
  if (annotations !== undefined) yield { type: 'part-patch', at, annotations }
}

function atCandidate(
  result: CanonicalResult,
  index: number,
  own: boolean,
  change: (candidate: Candidate) => Candidate,
): CanonicalResult {
  const candidates = own ? (result.candidates as Candidate[]) : [...result.candidates]
  while (candidates.length <= index) candidates.push({ content: [] })
  candidates[index] = change(candidates[index]!)
  return { ...result, candidates }
}

function atPart(result: CanonicalResult, at: At, own: boolean, change: (part: Part) => Part): CanonicalResult {
  return atCandidate(result, at.candidate, own, candidate => {
    const content = own ? (candidate.content as Part[]) : [...candidate.content]
    while (content.length <= at.part) content.push(HOLE)
    content[at.part] = change(content[at.part]!)
    return { ...candidate, content }
  })
}

function further(before: Transcript | undefined, late: Transcript, own: boolean): Transcript {
  if (before === undefined) return late
  const { segments, words, ...rest } = late
  return {
    ...before,
    ...rest,
    ...(segments === undefined ? {} : { segments: longer(before.segments, segments, own) }),
    ...(words === undefined ? {} : { words: longer(before.words, words, own) }),
    ...merged(before, late, own),
  }
}

function grown(part: Part, { append, of }: PartDelta): Part {
  if (of === undefined) return withBody(part, bodyOf(part) + append)
  return part.type === 'media' ? { ...part, transcript: (part.transcript ?? '') + append } : part
}

/** The part with late fields merged into it. The part is not mutated, unless its lists are the caller's `own`. */
export function patched(part: Part, patch: PartPatch, own = false): Part {
  const base = patch.part ?? part
  const signed =
    patch.signature === undefined || base.type !== 'reasoning' ? base : { ...base, signature: patch.signature }
  const noted =
    patch.annotations === undefined || signed.type !== 'text'
      ? signed
      : { ...signed, annotations: longer(signed.annotations, patch.annotations, own) }
  return { ...noted, ...merged(noted, patch, own) }
}

/** The extras and spelling of a node merged with a later event's, format by format. */
function merged(before: Node, late: Node, own: boolean): Node {
  return {
    ...(late.extras === undefined ? {} : { extras: layered(before.extras, late.extras, own) }),
    ...(late.spelling === undefined ? {} : { spelling: layered(before.spelling, late.spelling, own) }),
  }
}

function layered(before: Node['extras'], late: NonNullable<Node['extras']>, own: boolean): NonNullable<Node['extras']> {
  const out = { ...before }
  for (const format in late) out[format] = wider(out[format], late[format]!, own)
  return out
}
