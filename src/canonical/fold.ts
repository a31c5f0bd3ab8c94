import type { Part } from './content.ts'
import type { CanonicalEvent, PartDelta, PartPatch, PartPosition } from './event.ts'
import { appendedTo, withFieldsAdded } from './lists.ts'
import type { Node } from './node.ts'
import type { Candidate, CanonicalResult, Transcript } from './result.ts'

/** Returns the text of a part that grows during streaming. */
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

/** Returns the part with a new body. Parts that do not grow are returned unchanged. */
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

/** Placeholder for parts that have not started. */
const EMPTY_PART: Part = { type: 'text', text: '' }
/** The result of no events, shared and therefore frozen. Results that grow in place start from `fold([])`. */
export const EMPTY_RESULT: CanonicalResult = Object.freeze({ candidates: Object.freeze([]) })

/**
 * Applies one event to a partial result. Never throws, even if an event is out of order.
 *
 * @param mayMutate whether the lists of `result` may be mutated. By default they are copied.
 */
export function applyEvent(result: CanonicalResult, event: CanonicalEvent, mayMutate = false): CanonicalResult {
  switch (event.type) {
    case 'result-start': {
      const { type: _, ...head } = event
      return { ...result, ...head }
    }
    case 'part-start':
      return atPart(result, event.at, mayMutate, () => event.part)
    case 'part-delta':
      return atPart(result, event.at, mayMutate, part => withAppended(part, event))
    case 'part-patch':
      return atPart(result, event.at, mayMutate, part => patched(part, event, mayMutate))
    case 'logprobs':
      return atCandidate(result, event.candidate, mayMutate, candidate => ({
        ...candidate,
        logprobs: appendedTo(candidate.logprobs, event.append, mayMutate),
      }))
    case 'transcript':
      return atCandidate(result, event.candidate, mayMutate, candidate => ({
        ...candidate,
        transcript: withMoreTiming(candidate.transcript, event.transcript, mayMutate),
      }))
    case 'candidate-end':
      return atCandidate(result, event.candidate, mayMutate, candidate => ({
        ...candidate,
        ...(event.finish === undefined ? {} : { finish: event.finish }),
        ...mergedNode(candidate, event, mayMutate),
      }))
    case 'usage':
      return { ...result, usage: event.usage }
    case 'error':
      return { ...result, error: event.error }
    case 'result-end':
      return {
        ...result,
        ...(event.serviceTier === undefined ? {} : { serviceTier: event.serviceTier }),
        ...mergedNode(result, event, mayMutate),
      }
    case 'part-end':
    case 'preview':
    case 'opaque':
      return result
  }
}

/** Folds a stream of events into the result. Any prefix of a stream gives a valid partial result. */
export function fold(events: Iterable<CanonicalEvent>, from: CanonicalResult = EMPTY_RESULT): CanonicalResult {
  let result = withMutableLists(from)
  for (const event of events) result = applyEvent(result, event, true)
  return result
}

/**
 * Copies the lists once, so that events can be appended in place. Copying them for every event would take quadratic
 * time.
 */
const withMutableLists = (result: CanonicalResult): CanonicalResult => ({
  ...result,
  candidates: result.candidates.map(candidate => ({ ...candidate, content: [...candidate.content] })),
})

/** Yields the shortest stream that folds to the result. */
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

/** Yields the events of a complete part. */
export function* unfoldPart(part: Part, at: PartPosition): Generator<CanonicalEvent> {
  yield* openingEvents(part, at)
  yield { type: 'part-end', at }
}

/** Yields the events of a part without its end. */
export function* openingEvents(part: Part, at: PartPosition): Generator<CanonicalEvent> {
  const body = bodyOf(part)
  const { annotations, ...bare } = withBody(part, '') as Part & { annotations?: never }
  yield { type: 'part-start', at, part: bare }
  if (body !== '') yield { type: 'part-delta', at, append: body }
  if (annotations !== undefined) yield { type: 'part-patch', at, annotations }
}

function atCandidate(
  result: CanonicalResult,
  index: number,
  mayMutate: boolean,
  change: (candidate: Candidate) => Candidate,
): CanonicalResult {
  const candidates = mayMutate ? (result.candidates as Candidate[]) : [...result.candidates]
  while (candidates.length <= index) candidates.push({ content: [] })
  candidates[index] = change(candidates[index]!)
  return { ...result, candidates }
}

function atPart(
  result: CanonicalResult,
  at: PartPosition,
  mayMutate: boolean,
  change: (part: Part) => Part,
): CanonicalResult {
  return atCandidate(result, at.candidate, mayMutate, candidate => {
    const content = mayMutate ? (candidate.content as Part[]) : [...candidate.content]
    while (content.length <= at.part) content.push(EMPTY_PART)
    content[at.part] = change(content[at.part]!)
    return { ...candidate, content }
  })
}

function withMoreTiming(before: Transcript | undefined, laterTranscript: Transcript, mayMutate: boolean): Transcript {
  if (before === undefined) return laterTranscript
  const { segments, words, ...rest } = laterTranscript
  return {
    ...before,
    ...rest,
    ...(segments === undefined ? {} : { segments: appendedTo(before.segments, segments, mayMutate) }),
    ...(words === undefined ? {} : { words: appendedTo(before.words, words, mayMutate) }),
    ...mergedNode(before, laterTranscript, mayMutate),
  }
}

function withAppended(part: Part, { append, of }: PartDelta): Part {
  if (of === undefined) return withBody(part, bodyOf(part) + append)
  return part.type === 'media' ? { ...part, transcript: (part.transcript ?? '') + append } : part
}

/**
 * Merges late fields into a part.
 *
 * @param mayMutate whether the part's lists may be mutated. By default they are copied.
 */
export function patched(part: Part, patch: PartPatch, mayMutate = false): Part {
  const base = patch.part ?? part
  const signedPart =
    patch.signature === undefined || base.type !== 'reasoning' ? base : { ...base, signature: patch.signature }
  const annotatedPart =
    patch.annotations === undefined || signedPart.type !== 'text'
      ? signedPart
      : { ...signedPart, annotations: appendedTo(signedPart.annotations, patch.annotations, mayMutate) }
  return { ...annotatedPart, ...mergedNode(annotatedPart, patch, mayMutate) }
}

/** Merges the extras and spelling of a later event into those of a node, format by format. */
function mergedNode(before: Node, laterNode: Node, mayMutate: boolean): Node {
  return {
    ...(laterNode.extras === undefined ? {} : { extras: mergedFields(before.extras, laterNode.extras, mayMutate) }),
    ...(laterNode.spelling === undefined
      ? {}
      : { spelling: mergedFields(before.spelling, laterNode.spelling, mayMutate) }),
  }
}

function mergedFields(
  before: Node['extras'],
  laterFields: NonNullable<Node['extras']>,
  mayMutate: boolean,
): NonNullable<Node['extras']> {
  const out = { ...before }
  for (const format in laterFields) out[format] = withFieldsAdded(out[format], laterFields[format]!, mayMutate)
  return out
}
