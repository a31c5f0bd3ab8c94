import { Budget } from '../../canonical/budget.ts'
import { Losses, type Written } from '../../canonical/loss.ts'
import { isObject, type Json, type JsonObject, unchangedWire, wireSourceOf } from '../../canonical/node.ts'
import { type CanonicalRequest, isInstructing, type Message } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { contentsDialect } from '../../formats/dialects/contents.ts'
import { nativeSourceOf, REWRITABLE } from '../native.ts'
import type { WriteOptions } from '../writer.ts'
import { FORMAT, type WriteContext } from './fields.ts'
import { PartsWriter } from './parts.ts'
import { pathOf } from './path.ts'

/** Matches the API version and the collection, then the model and the method. */
const PATH = /^(.*?\/(?:models|tunedModels|dynamic|endpoints)\/).*:([a-zA-Z]+)$/s

/**
 * Passes on a request of this format as received, if only the model, the stream setting or turns changed. Returns
 * undefined for all other requests.
 */
export function nativeRequest(request: CanonicalRequest, options: WriteOptions): Written<WireRequest> | undefined {
  const source = options.native ? nativeSourceOf(request, FORMAT, REWRITABLE) : undefined
  if (source === undefined) return undefined
  const { node, wire } = source
  const { stream } = request
  const [, prefix, method] = PATH.exec(wire.path)!
  const dialect = contentsDialect(options.dialect)
  const context: WriteContext = { dialect, native: true, losses: new Losses(), budget: new Budget() }
  const write = BODY_WRITERS[method!] ?? nativeConversation
  const body = write(wire.body, { request, originalModel: node.model, context })
  if (body === undefined) return undefined
  const writtenMethod = stream === node.stream ? method! : stream ? 'streamGenerateContent' : 'generateContent'
  const { alt, ...query } = wire.query
  const written = {
    path: pathOf(request.model, writtenMethod, dialect, prefix),
    query: stream ? { ...query, alt: 'sse' } : node.stream ? query : wire.query,
    headers: {},
    body,
  }
  return { wire: written, losses: context.losses.list }
}

/** A changed native request and the context for writing it. */
interface ChangedRequest {
  readonly request: CanonicalRequest
  /** Model name that was read from the request. */
  readonly originalModel: string
  readonly context: WriteContext
}

type BodyWriter = (body: JsonObject, changed: ChangedRequest) => JsonObject | undefined

/** Functions that write the bodies of methods other than generateContent. */
const BODY_WRITERS: { readonly [method: string]: BodyWriter } = {
  countTokens: (body, changed) => {
    const field = Object.hasOwn(body, 'generateContentRequest') ? 'generateContentRequest' : 'generate_content_request'
    const inner = body[field]
    if (!isObject(inner)) return nativeConversation(body, changed)
    const written = nativeConversation(inner, changed)
    if (written === undefined) return undefined
    const outerBody = withModel(body, changed.originalModel, changed.request.model)
    return written === inner ? outerBody : { ...outerBody, [field]: written }
  },
  embedContent: (body, { request, originalModel }) =>
    request.messages.length === 1 && request.messages.every(isUnchangedMessage)
      ? withModel(body, originalModel, request.model)
      : undefined,
  // Each model has one of the methods, which the writer knows.
  predict: () => undefined,
  batchEmbedContents: (body, { request: { model, messages }, originalModel, context }) => {
    if (context.dialect.vertex === true || !messages.every(isUnchangedMessage)) return undefined
    return {
      ...withModel(body, originalModel, model),
      requests: messages.map(one => withModel(unchangedWire<JsonObject>(one, FORMAT)!, originalModel, model)),
    }
  },
}

const isUnchangedMessage = (message: Message): boolean => unchangedWire(message, FORMAT) !== undefined

/** Renames the model in the body and keeps its collection prefix. */
function withModel(body: JsonObject, originalModel: string, model: string): JsonObject {
  const { model: bodyModel } = body
  if (typeof bodyModel !== 'string' || originalModel === model) return body
  return { ...body, model: `${bodyModel.slice(0, bodyModel.length - originalModel.length)}${model}` }
}

function nativeConversation(
  body: JsonObject,
  { request, originalModel, context }: ChangedRequest,
): JsonObject | undefined {
  const { messages, model } = request
  const { contents } = body
  const renamedBody = withModel(body, originalModel, model)
  if (isUnchanged(messages, isObject(contents) ? [contents] : (contents as readonly Json[]), context))
    return renamedBody
  if (messages.some(message => isInstructing(message.role) && !isUnchangedMessage(message))) return undefined
  return { ...renamedBody, contents: turnsOf(messages).flatMap(turn => writeTurn(turn, context)) }
}

/** Returns true if the message was read from the same `contents` entry as the message before it. */
const sharesEntry = ({ spelling }: Message): boolean => spelling?.[FORMAT]?.['joined'] === true

/** Returns true if the contents hold exactly these messages, and the upstream accepts every entry. */
function isUnchanged(messages: readonly Message[], contents: readonly Json[], context: WriteContext): boolean {
  let count = 0
  for (const message of messages) {
    const wire = isAccepted(message, context) ? unchangedWire<Json>(message, FORMAT) : undefined
    if (wire === undefined) return false
    if (!isInstructing(message.role) && !sharesEntry(message) && contents[count++] !== wire) return false
  }
  return count === contents.length
}

/** Returns true if the upstream accepts the message as received. Google Cloud refuses call ids (trap 57). */
const isAccepted = ({ content }: Message, { dialect }: WriteContext): boolean =>
  dialect.vertex !== true || !content.some(({ type }) => type === 'tool-call' || type === 'tool-result')

/** Messages that were read from one `contents` entry. */
interface EntryMessages {
  readonly messages: Message[]
  /** The index of the first message. */
  readonly at: number
}

function turnsOf(messages: readonly Message[]): readonly EntryMessages[] {
  const turns: EntryMessages[] = []
  messages.forEach((message, at) => {
    if (isInstructing(message.role)) return
    if (sharesEntry(message)) turns.at(-1)?.messages.push(message)
    else turns.push({ messages: [message], at })
  })
  return turns
}

/** Writes a turn: unchanged if the upstream accepts all of it, and nothing if no parts remain. */
function writeTurn({ messages, at }: EntryMessages, context: WriteContext): readonly JsonObject[] {
  const [first] = messages as [Message]
  const wire = wireSourceOf<JsonObject>(first, FORMAT)?.wire
  if (wire !== undefined && messages.every(message => isUnchangedMessage(message) && isAccepted(message, context)))
    return [wire]
  const writer = new PartsWriter(context)
  for (const [index, message] of messages.entries()) writer.putAll(message, message.role, ['messages', at + index])
  writer.end()
  const head = wire ?? { role: first.role === 'assistant' ? 'model' : 'user' }
  return writer.parts.length === 0 ? [] : [{ ...head, parts: writer.parts }]
}
