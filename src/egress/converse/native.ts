import { Budget } from '../../canonical/budget.ts'
import { Losses, type Path, type Written } from '../../canonical/loss.ts'
import { isObject, type Json, type JsonObject, unchangedWire, wireSourceOf } from '../../canonical/node.ts'
import type { CanonicalRequest, Message } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { converseDialect } from '../../formats/dialects/converse.ts'
import { nativeSourceOf, REWRITABLE, withFields } from '../native.ts'
import { losesReasoning } from '../sanitize/last-answer.ts'
import { thinkingWithoutBudget } from '../sanitize/thinking-plan.ts'
import type { WriteOptions } from '../writer.ts'
import { type TurnKind, writeBlock } from './content.ts'
import { type Block, FORMAT, type WriteContext, writeCachePoint } from './context.ts'
import { acceptOf, countPathOf, operationOf, pathOf } from './path.ts'

/**
 * Passes on a request of this format as received, if only the model, the stream setting or turns changed. Returns
 * undefined for all other requests.
 */
export function nativeRequest(request: CanonicalRequest, options: WriteOptions): Written<WireRequest> | undefined {
  const source = options.native ? nativeSourceOf(request, FORMAT, REWRITABLE) : undefined
  if (source === undefined) return undefined
  const { node, wire } = source
  const dialect = converseDialect(options.dialect)
  const context: WriteContext = {
    dialect,
    native: true,
    losses: new Losses(),
    documents: new Set(),
    budget: new Budget(),
  }
  const isSame = isUnchanged(request.messages, node.messages)
  const counts = request.output.count === true
  const body = isSame
    ? wire.body
    : counts
      ? withTurns(wire.body, request, context)
      : withFields(conversationFields(wire.body, request, context), nativeThinking(request, node, wire.body, context))
  const path = counts ? countPathOf(request.model) : pathOf(request.model, operationOf(request.stream))
  const accept = acceptOf(!counts && request.stream)
  return { wire: { path, query: {}, headers: {}, body, ...accept }, losses: context.losses.list }
}

/**
 * Requests thinking without a budget, or no thinking, if the turns lack the reasoning that a budget requires. Returns
 * the changed body field.
 */
function nativeThinking(
  request: CanonicalRequest,
  received: CanonicalRequest,
  { [MODEL_FIELDS]: fields }: JsonObject,
  { dialect, losses }: WriteContext,
): JsonObject {
  const { reasoning } = request
  const thinking = isObject(fields) ? fields['thinking'] : undefined
  if (reasoning === undefined || !isObject(thinking) || thinking['type'] !== 'enabled') return {}
  if (!losesReasoning(request, received, FORMAT)) return {}
  return { [MODEL_FIELDS]: { ...(fields as JsonObject), thinking: thinkingWithoutBudget(reasoning, dialect, losses) } }
}

const MODEL_FIELDS = 'additionalModelRequestFields'

/** Replaces the turns in a token count request, which wraps the conversation. */
function withTurns(body: JsonObject, request: CanonicalRequest, context: WriteContext): JsonObject {
  const { input } = body
  if (!isObject(input) || !isObject(input['converse'])) return body
  return { ...body, input: { ...input, converse: conversationFields(input['converse'], request, context) } }
}

/** Returns true if no message changed, and all reasoning was issued by an upstream of this format. */
const isUnchanged = (messages: readonly Message[], read: readonly Message[]): boolean =>
  messages.length === read.length && messages.every((message, at) => message === read[at] && isAccepted(message))

const isAccepted = ({ role, content }: Message): boolean =>
  role !== 'assistant' || content.every(part => part.type !== 'reasoning' || unchangedWire(part, FORMAT) !== undefined)

/** A turn in the body, which may have been read as several messages. The system text has no role. */
interface Turn {
  readonly wire: JsonObject
  readonly messages: Message[]
  /** The index of the first message. */
  readonly at: number
}

/** Writes the fields of a conversation in which some turns are rewritten. */
function conversationFields(body: JsonObject, { messages }: CanonicalRequest, context: WriteContext): JsonObject {
  const turns: Turn[] = []
  messages.forEach((message, at) => {
    const wire = wireSourceOf<JsonObject>(message, FORMAT)?.wire ?? {
      role: message.role === 'tool' ? 'user' : message.role,
    }
    const last = turns.at(-1)
    if (last?.wire === wire) last.messages.push(message)
    else turns.push({ wire, messages: [message], at })
  })
  const written = turns.flatMap(turn => nativeTurn(turn, context))
  const system = written.find(turn => turn['role'] === undefined)
  const others: readonly Json[] = written.filter(turn => turn !== system)
  const fields: Block = { messages: others, ...(system === undefined ? {} : { system: system['content']! }) }
  return withFields(body, fields)
}

/** Writes a turn without the parts that the upstream refuses. A turn is dropped if no parts remain. */
function nativeTurn({ wire, messages, at }: Turn, context: WriteContext): readonly JsonObject[] {
  const blocks = messages.flatMap((message, index) =>
    message.content.flatMap((part, partIndex): readonly Json[] => {
      const path: Path = ['messages', at + index, 'content', partIndex]
      const block = unchangedWire<JsonObject>(part, FORMAT) ?? writeBlock(part, path, turnOf(message), context)
      if (block === undefined) return []
      const point = part.type === 'opaque' ? undefined : writeCachePoint(part, path, context)
      return point === undefined ? [block] : [block, point]
    }),
  )
  const isEmptied = blocks.length === 0 && messages.some(({ content }) => content.length > 0)
  return isEmptied ? [] : [{ ...wire, content: blocks }]
}

const turnOf = ({ role }: Message): TurnKind => (role === 'developer' ? 'system' : role)
