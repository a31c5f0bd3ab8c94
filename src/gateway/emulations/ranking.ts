import { GatewayError } from '../../canonical/error.ts'
import { foreignLosses, type Loss, shifted } from '../../canonical/loss.ts'
import { defined } from '../../canonical/node.ts'
import { type CanonicalRequest, type EmbeddingPurpose, type Message, userMessage } from '../../canonical/request.ts'
import { totalUsage, type Usage } from '../../canonical/result.ts'
import { type Vector, vectorAs } from '../../canonical/vector.ts'
import { prepare } from '../prepare.ts'
import { withOnePerInput } from '../read-result.ts'
import type { Attempt, Emulation, RoundTrip, WholeAnswer } from '../types.ts'

/** Ranks documents with an upstream that can only embed, by cosine similarity of their vectors to the query's. */
export const ranking: Emulation = {
  losses: ({ output, extras }) => [
    { kind: 'changed', path: ['output', 'ranking'], became: output.ranking, reason: 'ranked-by-cosine' },
    // Settings of the caller's own format have no meaning for an embedding.
    ...foreignLosses({ extras }, ''),
  ],
  answer: async (attempt, roundTrip) => {
    const { vectors, usage, model, losses } = await (canWritePurpose(attempt)
      ? inTwoRequests(attempt, roundTrip)
      : inOneRequest(attempt, roundTrip))
    const [query, ...documents] = vectors.map(vector => vectorAs(vector, 'float') as readonly number[])
    const ranks = documents.map((document, index) => ({ index, score: cosine(query!, document) }))
    const content = ranks
      .sort((a, b) => b.score - a.score || a.index - b.index)
      .map(rank => ({ type: 'rank', ...rank }) as const)
    const result = {
      ...defined({ model, usage }),
      candidates: [{ content }],
    }
    return { result, losses, headers: {} }
  },
}

/** Vector of the query, followed by one vector per document. */
interface Embeddings {
  readonly vectors: readonly Vector[]
  readonly usage: Usage | undefined
  readonly model: string | undefined
  readonly losses: readonly Loss[]
}

/** Embeds the query and the documents in two requests, each with its own purpose. */
async function inTwoRequests(attempt: Attempt, roundTrip: RoundTrip): Promise<Embeddings> {
  const { request } = attempt
  const query = await roundTrip(attempt, embeddingOf(request, [queryOf(request)], 'query'))
  const documents = await roundTrip(attempt, embeddingOf(request, request.messages, 'document'))
  return {
    vectors: [...vectorsIn(query, 1), ...vectorsIn(documents, request.messages.length)],
    usage: totalOf(query.result.usage, documents.result.usage),
    model: documents.result.model,
    losses: lossesOf(documents, 0),
  }
}

/** Embeds the query and the documents in one request. */
async function inOneRequest(attempt: Attempt, roundTrip: RoundTrip): Promise<Embeddings> {
  const { request } = attempt
  const wholeAnswer = await roundTrip(attempt, embeddingOf(request, [queryOf(request), ...request.messages]))
  const { usage, model } = wholeAnswer.result
  return {
    vectors: vectorsIn(wholeAnswer, request.messages.length + 1),
    usage,
    model,
    losses: lossesOf(wholeAnswer, 1),
  }
}

const queryOf = ({ output }: CanonicalRequest): Message => userMessage(output.ranking!.query)

function embeddingOf(
  { model, endUser }: CanonicalRequest,
  messages: readonly Message[],
  purpose?: EmbeddingPurpose,
): CanonicalRequest {
  return {
    model,
    messages,
    output: { modalities: ['embedding'], ...(purpose === undefined ? {} : { embedding: { purpose } }) },
    sampling: {},
    ...(endUser === undefined ? {} : { endUser }),
    stream: false,
  }
}

/** Returns true if the target's format has a field for the purpose of an embedding. */
function canWritePurpose({ request, target }: Attempt): boolean {
  const { losses } = prepare(embeddingOf(request, [queryOf(request)], 'query'), target)
  return !losses.some(({ path }) => path.join('.') === 'output.embedding.purpose')
}

/**
 * Returns the losses of documents at their index in the caller's request, which is `offset` lower. All other losses
 * concern only the gateway's own request.
 */
const lossesOf = ({ losses }: WholeAnswer, offset: number): readonly Loss[] =>
  losses.flatMap(loss => shifted(loss, -offset) ?? [])

function vectorsIn({ result }: WholeAnswer, count: number): readonly Vector[] {
  const content = result.candidates[0]?.content ?? []
  const vectors = content.flatMap(part => (part.type === 'embedding' ? [part.vector] : []))
  return withOnePerInput(vectors, count)
}

/** Returns the total usage of both requests, or undefined if either usage is unknown. */
const totalOf = (a: Usage | undefined, b: Usage | undefined): Usage | undefined =>
  a?.input === undefined || b?.input === undefined ? undefined : totalUsage([a, b])

/** Returns the cosine similarity, from -1 to 1, or 0 if a vector has no direction. */
function cosine(a: readonly number[], b: readonly number[]): number {
  if (a.length !== b.length)
    throw new GatewayError({ kind: 'upstream-failed', message: 'The upstream returned vectors of different lengths.' })
  let product = 0
  let lengthA = 0
  let lengthB = 0
  for (let at = 0; at < a.length; at++) {
    product += a[at]! * b[at]!
    lengthA += a[at]! ** 2
    lengthB += b[at]! ** 2
  }
  const score = product / Math.sqrt(lengthA * lengthB)
  return Number.isFinite(score) ? Math.max(-1, Math.min(1, score)) : 0
}
