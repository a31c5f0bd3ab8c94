import { GatewayError } from '../../canonical/error.ts'
import { type Loss, shifted } from '../../canonical/loss.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import { workOf } from '../../canonical/work.ts'
import type { Candidate } from '../../router.ts'
import type { Answered, Attempt } from '../types.ts'
import { combined } from './combined.ts'
import { together } from './together.ts'

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
 * @throws GatewayError as the first piece that fails.
 */
export async function joinBatches(
  attempt: Attempt,
  pieces: readonly CanonicalRequest[],
  ask: (attempt: Attempt, piece: CanonicalRequest) => Promise<Answered>,
): Promise<Answered> {
  const asks = pieces.map(piece => async (signal: AbortSignal) => {
    const answered = await ask({ ...attempt, signal }, piece)
    oneEach(contentOf(answered), piece.messages.length)
    return answered
  })
  const answers = await together(attempt, asks, AT_ONCE)
  return { result: whole(answers), losses: allLosses(answers, pieces), headers: answers[0]!.headers }
}

/**
 * What was answered to so many inputs. Vectors are told apart by their place alone: with one missing, none is sure.
 *
 * @throws GatewayError `upstream-failed` for more or fewer.
 */
export function oneEach<T>(answers: readonly T[], inputs: number): readonly T[] {
  if (answers.length === inputs) return answers
  throw new GatewayError({
    kind: 'upstream-failed',
    message: `The upstream answered ${inputs} inputs with ${answers.length} embeddings.`,
  })
}

const contentOf = ({ result }: Answered) => result.candidates[0]?.content ?? []

function whole(answers: readonly Answered[]): CanonicalResult {
  const [first] = answers[0]!.result.candidates
  return combined(answers, [{ ...first!, content: answers.flatMap(contentOf) }])
}

/** Losses of what is embedded, at its place in the whole request; what is lost of the settings is lost alike in all. */
function allLosses(answers: readonly Answered[], pieces: readonly CanonicalRequest[]): readonly Loss[] {
  let offset = 0
  return answers.flatMap(({ losses }, index) => {
    const before = offset
    offset += pieces[index]!.messages.length
    return losses.flatMap(loss => shifted(loss, before) ?? (index === 0 ? loss : []))
  })
}
