import { invalid } from '../../canonical/error.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { type CanonicalRequest, isInstructing, type Message } from '../../canonical/request.ts'
import type { ModelFacts } from '../../config/index.ts'
import { MOST_EXPENSIVE_FORMAT } from '../../formats/index.ts'
import { TokenInputs } from '../counting/estimate.ts'
import { STORED_FORMAT } from './items.ts'

/** Share of the context that is reserved for an answer without a token limit. */
const ANSWER_SHARE = 1 / 4
/** Maximum number of tokens that are reserved for an answer without a token limit. */
const MAX_ANSWER = 16_384

/** Maximum number of tokens that are estimated per turn of the event loop. */
const YIELD_AFTER = 16_384

/** Throws GatewayError `invalid-request` for an unknown `truncation` (docs/wire/responses.md#request). */
export function checkTruncation({ truncation }: JsonObject): void {
  if (truncation == null || truncation === 'auto' || truncation === 'disabled') return
  throw invalid('`truncation` must be `auto` or `disabled`.', 'truncation')
}

/** Returns true if the request allows truncation. */
export const allowsTruncation = ({ extras }: CanonicalRequest): boolean =>
  extras?.[STORED_FORMAT]?.['truncation'] === 'auto'

/** Returns the request without its `truncation` setting. */
export function withoutTruncation(request: CanonicalRequest): CanonicalRequest {
  if (!allowsTruncation(request)) return request
  const { truncation: _, ...rest } = request.extras![STORED_FORMAT]!
  return { ...request, extras: { ...request.extras, [STORED_FORMAT]: rest } }
}

/**
 * Drops the oldest messages, so that the request and its answer are estimated to fit the model's context. Returns
 * undefined if the context size is unknown. Drops earlier turns entirely, then steps of the last turn. Drops calls
 * together with their results. System and developer messages, the start of the last turn and its last step always stay.
 */
export async function truncatedRequest(
  request: CanonicalRequest,
  { context, maxOutput = MAX_ANSWER }: Pick<ModelFacts, 'context' | 'maxOutput'>,
): Promise<CanonicalRequest | undefined> {
  if (context === undefined) return undefined
  const reserve = request.sampling.maxTokens ?? Math.min(maxOutput, MAX_ANSWER, Math.floor(context * ANSWER_SHARE))
  const messages = await messagesThatFit(request, context - reserve)
  return { ...withoutTruncation(request), messages }
}

/** Returns the messages that fit. Counts no more than necessary, and nothing if all messages certainly fit. */
async function messagesThatFit(request: CanonicalRequest, availableTokens: number): Promise<readonly Message[]> {
  const { messages } = request
  const fixed = new TokenInputs(MOST_EXPENSIVE_FORMAT)
  fixed.settings(request)
  for (const message of messages) if (isInstructing(message.role)) fixed.message(message)
  const costs = costsOf(messages)
  if (fixed.upperBound + (costs.at(-1)?.maxTokensUpTo ?? 0) <= availableTokens) return messages
  let remaining = availableTokens - (await fixed.tokens())
  for (const { block, inputs } of costs) if (block.mustStay) remaining -= await inputs.tokens()
  const dropped = await indexesToDrop(costs, remaining)
  return dropped.size === 0 ? messages : messages.filter((_, messageIndex) => !dropped.has(messageIndex))
}

/** A block with its token cost. */
interface BlockCost {
  readonly block: Block
  readonly inputs: TokenInputs
  /** Upper bound of the block's tokens. */
  readonly maxTokens: number
  /** Upper bound of the tokens of the block and all earlier blocks. */
  readonly maxTokensUpTo: number
}

function costsOf(messages: readonly Message[]): readonly BlockCost[] {
  let maxTokensUpTo = 0
  return blocksOf(messages).map(block => {
    const inputs = new TokenInputs(MOST_EXPENSIVE_FORMAT)
    for (const messageIndex of block.indexes) inputs.message(messages[messageIndex]!)
    const maxTokens = inputs.upperBound
    maxTokensUpTo += maxTokens
    return { block, inputs, maxTokens, maxTokensUpTo }
  })
}

/** Returns the indexes of the messages to drop: the latest block that does not fit, and every earlier block. */
async function indexesToDrop(costs: readonly BlockCost[], availableTokens: number): Promise<ReadonlySet<number>> {
  let remaining = availableTokens
  let counted = 0
  for (const [index, { block, inputs, maxTokens, maxTokensUpTo }] of [...costs.entries()].reverse()) {
    if (block.mustStay) continue
    if (maxTokensUpTo <= remaining) break
    if (remaining > 0) remaining -= await inputs.tokens()
    else remaining = -1
    if (remaining < 0)
      return new Set(costs.slice(0, index + 1).flatMap(({ block }) => (block.mustStay ? [] : block.indexes)))
    counted += maxTokens
    if (counted < YIELD_AFTER) continue
    counted = 0
    await new Promise(resolve => setImmediate(resolve))
  }
  return new Set()
}

/** Messages that are dropped or retained together. */
export interface Block {
  /** Indexes of the messages, in order. */
  readonly indexes: readonly number[]
  /** True if the block must stay, because it contains the start of the last turn or is the last block. */
  readonly mustStay: boolean
}

/**
 * Splits a conversation into droppable blocks, oldest first: earlier turns as a whole, the last turn by steps. A turn
 * starts with a user message, a step with an assistant message after tool results. A call and its result are always in
 * the same block. System and developer messages belong to no block.
 */
export function blocksOf(messages: readonly Message[]): readonly Block[] {
  const indexes = [...messages.keys()].filter(messageIndex => !isInstructing(messages[messageIndex]!.role))
  const lastTurn =
    indexes.findLast((messageIndex, at) => isTurn(messages[messageIndex]!, messages[indexes[at - 1]!])) ?? indexes[0]
  const beginnings: number[] = []
  const calls = new Map<string, number>()
  for (const [at, messageIndex] of indexes.entries()) {
    const [message, before] = [messages[messageIndex]!, messages[indexes[at - 1]!]]
    const isStep = messageIndex > lastTurn! && message.role === 'assistant' && before?.role !== 'assistant'
    if (at === 0 || isStep || isTurn(message, before)) beginnings.push(at)
    const call = earliestCall(message, at, calls)
    while (beginnings.at(-1)! > call) beginnings.pop()
  }
  return beginnings.map((from, index) => {
    const blockIndexes = indexes.slice(from, beginnings[index + 1])
    return { indexes: blockIndexes, mustStay: index === beginnings.length - 1 || blockIndexes.includes(lastTurn!) }
  })
}

const isTurn = ({ role }: Message, before: Message | undefined): boolean => role === 'user' && before?.role !== 'user'

/**
 * Returns the index of the earliest call that a message answers, or of the message itself. Also records the calls that
 * the message makes.
 */
function earliestCall({ content }: Message, at: number, calls: Map<string, number>): number {
  let earliest = at
  for (const part of content) {
    if (part.type === 'tool-call') calls.set(part.id, at)
    if (part.type === 'tool-result') earliest = Math.min(earliest, calls.get(part.id) ?? at)
  }
  return earliest
}
