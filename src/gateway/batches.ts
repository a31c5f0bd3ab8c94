import { GatewayError } from '../canonical/error.ts'
import type { Loss } from '../canonical/loss.ts'
import { isObject, type Json, type JsonObject } from '../canonical/node.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { CanonicalResult, Usage } from '../canonical/result.ts'
import { workOf } from '../canonical/work.ts'
import type { Candidate } from '../router.ts'
import type { Attempt } from './attempt.ts'
import type { Answered } from './told.ts'

/** How many pieces of one request are under way at once. */
const AT_ONCE = 4

/** The request in pieces its upstream takes, where there is more to embed than it takes at once. */
export function batchesOf(request: CanonicalRequest, candidate: Candidate): readonly CanonicalRequest[] | undefined {
  const limit = limitOf(candidate)
  const { messages } = request
  if (limit === undefined || messages.length <= limit || workOf(request) !== 'embedding') return undefined
  // Its inputs are read as one text: apart they mean something else (FORMATS §8).
  if (request.extras?.['embeddings']?.['late_chunking'] === true) return undefined
  const count = Math.ceil(messages.length / limit)
  return Array.from({ length: count }, (_, index) => ({
    ...request,
    messages: messages.slice(index * limit, (index + 1) * limit),
  }))
}

/** As many inputs as one request may have; Google's cloud knows no batches. */
function limitOf({ format: { dialect } }: Candidate): number | undefined {
  const { batch = dialect['vertex'] === true ? 1 : undefined } = dialect
  return typeof batch === 'number' && batch >= 1 ? Math.floor(batch) : undefined
}

/**
 * The pieces' answers as one, in the order of the pieces; a few are asked for at once.
 *
 * @throws GatewayError as the first piece that fails; the others are broken off.
 */
export async function joined(
  attempt: Attempt,
  pieces: readonly CanonicalRequest[],
  ask: (attempt: Attempt, piece: CanonicalRequest) => Promise<Answered>,
): Promise<Answered> {
  const { reply } = attempt.call
  const controller = new AbortController()
  const { signal } = controller
  const answers: Answered[] = []
  let next = 0
  const work = async (): Promise<void> => {
    while (next < pieces.length && !signal.aborted) {
      const index = next++
      answers[index] = complete(await ask({ ...attempt, signal }, pieces[index]!), pieces[index]!)
    }
  }
  attempt.report.tried(attempt.candidate)
  reply.worker = controller
  try {
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, pieces.length) }, work))
  } catch (thrown) {
    controller.abort()
    throw thrown
  } finally {
    reply.worker = undefined
  }
  return { result: whole(answers), losses: allLosses(answers, pieces), headers: answers[0]!.headers }
}

/** Vectors are told apart by their place alone: with one missing, none is sure. */
function complete(answered: Answered, { messages }: CanonicalRequest): Answered {
  const count = vectorsOf(answered).length
  if (count === messages.length) return answered
  throw new GatewayError({
    kind: 'upstream-failed',
    message: `The upstream answered ${messages.length} inputs with ${count} embeddings.`,
  })
}

const vectorsOf = ({ result }: Answered) => result.candidates[0]?.content ?? []

function whole(answers: readonly Answered[]): CanonicalResult {
  const { usage: _, candidates, ...head } = answers[0]!.result
  const usages = answers.map(({ result }) => result.usage)
  return {
    ...head,
    candidates: [{ ...candidates[0]!, content: answers.flatMap(vectorsOf) }],
    ...(usages.includes(undefined) ? {} : { usage: usages.map(unspelt).reduce(sum) as Usage }),
  }
}

/** What was spelled of one piece's counts is not true of all. */
function unspelt(usage: Usage | undefined): JsonObject {
  const { spelling: _, ...counts } = usage!
  return counts as JsonObject
}

function sum(a: JsonObject, b: JsonObject): JsonObject {
  const added = (left: Json | undefined, right: Json | undefined): Json => {
    if (typeof left === 'number' && typeof right === 'number') return left + right
    return isObject(left) && isObject(right) ? sum(left, right) : (left ?? right ?? null)
  }
  return Object.fromEntries(Object.keys({ ...a, ...b }).map(key => [key, added(a[key], b[key])]))
}

/** Losses of what is embedded, at its place in the whole request; what is lost of the settings is lost alike in all. */
function allLosses(answers: readonly Answered[], pieces: readonly CanonicalRequest[]): readonly Loss[] {
  let offset = 0
  return answers.flatMap(({ losses }, index) => {
    const before = offset
    offset += pieces[index]!.messages.length
    return losses.flatMap((loss): Loss[] => {
      const [field, place, ...rest] = loss.path
      if (field !== 'messages' || typeof place !== 'number') return index === 0 ? [loss] : []
      return [{ ...loss, path: [field, place + before, ...rest] }]
    })
  })
}
