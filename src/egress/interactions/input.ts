import type { MediaPart, Part, ReasoningPart, TextPart, ToolCallPart, ToolResultPart } from '../../canonical/content.ts'
import { parseCallObject } from '../../canonical/exact-numbers.ts'
import { append } from '../../canonical/lists.ts'
import type { Losses, Path, Unwritten } from '../../canonical/loss.ts'
import { defined, type Json, type JsonObject } from '../../canonical/node.ts'
import { CONTINUE, CONTINUE_TURN, leadingInstructions, type Message, saysNothing } from '../../canonical/request.ts'
import { SKIP_SIGNATURE } from '../../canonical/signature.ts'
import { extrasFor, spellingFor } from '../fields.ts'
import { takeMoved, withoutMedia } from '../moved-media.ts'
import { resultsFirst } from '../sanitize/results-first.ts'
import { isSearch, searchInWords } from '../searches.ts'
import { SYSTEM_PARTS, USER_PARTS, writeAllowed } from '../turns.ts'
import { contentExtras, writeContent } from './content.ts'
import { FORMAT, type WriteContext } from './context.ts'
import { writeInstruction } from './instruction.ts'
import { argumentsOf, isContent, stepFields, writeCall, writeSearch, writeThought } from './steps.ts'

/** Writes `system_instruction` and `input`: the leading instructions as text, everything else as steps. */
export function writeHistory(messages: readonly Message[], context: WriteContext): JsonObject {
  const names: CallNames = new Map()
  const count = leadingInstructions(messages)
  const system_instruction = writeInstruction(messages.slice(0, count), context)
  const order = resultsFirst(messages, count)
  const input = order.slice(count).flatMap((index, at) => {
    const message = messages[index]!
    const moved = message.role === 'tool' ? [] : writeMoved(count + at, context)
    return [...moved, ...writeMessage(message, ['messages', index], context, names)]
  })
  append(input, writeMoved(messages.length, context))
  // Upstreams refuse an empty input.
  if (input.length === 0 && (count === messages.length ? count > 0 : saysNothing(messages.slice(count)))) {
    context.losses.insert(['messages', messages.length], CONTINUE_TURN, 'the-user-speaks-first')
    input.push({ type: 'user_input', content: [{ type: 'text', text: CONTINUE }] })
  }
  // Reported last, because insertions are at positions of the new order.
  context.losses.reorder(['messages'], order, messages.length, 'results-first')
  return { ...(defined({ system_instruction }) as JsonObject), input }
}

/** Writes the media of the tool results before this index as a turn of the user. */
function writeMoved(index: number, { moved = [], losses }: WriteContext): readonly JsonObject[] {
  const turn = takeMoved(moved, index, losses)
  return turn === undefined ? [] : [{ type: 'user_input', content: turn.wires }]
}

/** Names of the tools called so far, by call id. If several turns have a call with one id, the latest counts. */
type CallNames = Map<string, string>

/** Writes a message as steps. */
export function writeMessage(
  message: Message,
  path: Path,
  context: WriteContext,
  names: CallNames,
): readonly JsonObject[] {
  const { role } = message
  if (message.name !== undefined) context.losses.drop([...path, 'name'], 'no-speaker-names')
  if (role === 'assistant') {
    for (const part of message.content) if (part.type === 'tool-call') names.set(part.id, part.name)
    return writeTurn(message, path, context)
  }
  if (role === 'tool') return writeResults(message, path, context, names)
  if (role !== 'user') context.losses.change([...path, 'role'], 'user', 'system-stands-first')
  const allowed = role === 'user' ? USER_PARTS : SYSTEM_PARTS
  const content = writeContents(message.content, [...path, 'content'], allowed, context)
  if (content.length === 0 && message.extras?.[FORMAT] === undefined) return []
  return [{ type: 'user_input', content, ...extrasFor(message, FORMAT) }]
}

const writeContents = (
  content: readonly Part[],
  path: Path,
  allowed: ReadonlySet<Part['type']>,
  { losses }: WriteContext,
): readonly JsonObject[] =>
  writeAllowed(content, allowed, path, losses, (part, at) =>
    writeContent(withoutCitations(part, at, losses), at, losses),
  )

/** Drops the citations of a text that is not part of an answer. */
function withoutCitations(part: Part, path: Path, losses: WriteContext['losses']): Part {
  if (part.type !== 'text' || part.annotations === undefined) return part
  losses.dropRestored([...path, 'annotations'], 'no-annotations-in-requests')
  const { annotations: _, ...text } = part
  return text
}

/** Writes each tool result as a separate step. */
function writeResults(message: Message, path: Path, context: WriteContext, names: CallNames): readonly JsonObject[] {
  if (message.extras?.[FORMAT] !== undefined) context.losses.drop([...path, 'extras', FORMAT], 'no-equivalent-field')
  return message.content.flatMap((part, index) => {
    const at = [...path, 'content', index]
    if (part.type === 'tool-result') return [writeResult(part, at, context, names)]
    context.losses.drop(at, 'not-in-this-turn')
    return []
  })
}

function writeResult(part: ToolResultPart, path: Path, context: WriteContext, names: CallNames): JsonObject {
  const { losses } = context
  if (part.cache !== undefined) losses.drop([...path, 'cache'], 'no-cache-markers')
  if (part.freeform !== undefined) losses.dropRestored([...path, 'freeform'], 'implied-by-the-call')
  const content = withoutMovedMedia(part, path, context)
  const written = writeContents(content, [...path, 'content'], USER_PARTS, context)
  const contents = context.moved === undefined ? written : joinedTexts(written, [...path, 'content'], losses)
  return {
    type: 'function_result',
    call_id: part.id,
    ...(defined({ name: names.get(part.id) ?? part.name }) as JsonObject),
    result: resultValue(contents, spellingFor(part, FORMAT)['result'] === 'object'),
    ...(part.failed === undefined ? {} : { is_error: true }),
    ...extrasFor(part, FORMAT),
  }
}

/** Returns the content of a result, without its media if they follow in a turn of the user. */
function withoutMovedMedia(part: ToolResultPart, path: Path, { losses, moved }: WriteContext): readonly Part[] {
  if (moved === undefined) return part.content
  const write = (one: Part, found: Losses): JsonObject | undefined =>
    one.type === 'media' ? writeContent(one, [], found) : undefined
  return withoutMedia(part, path, { format: FORMAT, losses, moved, write, holds: isTextDocument })
}

/** Returns true for a document whose content is text, which is written as text. */
const isTextDocument = ({ source }: MediaPart): boolean => source.type === 'text'

/** Joins several texts of a result, because models that take no media there take only a string. */
function joinedTexts(contents: readonly JsonObject[], path: Path, losses: Losses): readonly JsonObject[] {
  if (contents.length < 2 || !contents.every(one => one['type'] === 'text' && Object.keys(one).length === 2))
    return contents
  const text = contents.map(one => one['text'] as string).join('\n\n')
  losses.change(path, [{ type: 'text', text }], 'one-text-each')
  return [{ type: 'text', text }]
}

/** Returns the contents as a string if they are a single plain text, or as the object from which the text was read. */
function resultValue(contents: readonly JsonObject[], isObject: boolean): Json {
  if (contents.length === 0) return ''
  const [only, ...others] = contents as [JsonObject]
  if (others.length > 0 || only['type'] !== 'text' || Object.keys(only).length > 2) return contents
  const text = only['text'] as string
  return (isObject ? parseCallObject(text) : undefined) ?? text
}

const CALL_LOSSES: Unwritten<ToolCallPart, 'type' | 'id' | 'name' | 'arguments' | 'freeform' | 'namespace'> = {
  cache: 'no-cache-markers',
}

/** Writes a model turn. Adjacent contents form one step. */
function writeTurn(message: Message, path: Path, context: WriteContext): readonly JsonObject[] {
  if (message.extras?.[FORMAT] !== undefined) context.losses.drop([...path, 'extras', FORMAT], 'no-equivalent-field')
  return writeParts(message.content, path, context)
}

/** Writes the parts of a model turn as steps. */
export function writeParts(parts: readonly Part[], path: Path, context: WriteContext): readonly JsonObject[] {
  const turn = new Turn(context)
  for (const [index, part] of parts.entries()) turn.addPart(part, [...path, 'content', index])
  return withSignedCalls(turn.steps)
}

/**
 * Returns the steps of a turn with a signature before its first call. Where the caller has none, Google takes a word
 * that skips the check; Gemini 3 refuses calls without it (trap 31).
 */
export function withSignedCalls(steps: readonly JsonObject[]): readonly JsonObject[] {
  const first = steps.findIndex(({ type }) => type === 'function_call')
  if (first === -1 || steps.slice(0, first + 1).some(isSigned)) return steps
  const before = steps[first - 1]
  const signature = SKIP_SIGNATURE
  return before?.['type'] === 'thought'
    ? steps.with(first - 1, { ...before, signature })
    : steps.toSpliced(first, 0, { type: 'thought', signature })
}

/** Returns true for a thought or a call with a signature. */
const isSigned = ({ type, signature }: JsonObject): boolean =>
  (type === 'thought' || type === 'function_call') && signature != null && signature !== ''

/** The most recently written unsigned reasoning, which a chunk may continue. */
interface OpenReasoning {
  readonly path: Path
  readonly part: ReasoningPart
}

/** Collects the steps of a turn. */
class Turn {
  readonly steps: JsonObject[] = []
  private readonly context: WriteContext
  private contents: JsonObject[] | undefined
  private lastReasoning: OpenReasoning | undefined

  constructor(context: WriteContext) {
    this.context = context
  }

  addPart(part: Part, path: Path): void {
    if (part.type === 'reasoning') return this.think(part, path)
    if (part.type === 'tool-call') return this.step(this.call(part, path))
    if (part.type === 'opaque' && !isContent(part)) return this.step(part.value)
    if (isSearch(part)) return this.search(part, path)
    this.addContent(part, path)
  }

  private step(wire: JsonObject): void {
    this.contents = undefined
    this.lastReasoning = undefined
    this.steps.push(wire)
  }

  private addContent(part: Part, path: Path): void {
    const { losses } = this.context
    const wire = writeContent(part, path, losses)
    if (wire === undefined) return
    const fields = stepFields(part)
    if (this.contents === undefined || fields !== undefined) {
      const contents: JsonObject[] = []
      this.step({ type: 'model_output', content: contents, ...fields })
      this.contents = contents
    }
    this.contents.push(wire)
  }

  private call(part: ToolCallPart, path: Path): JsonObject {
    this.context.losses.dropFields(part, path, CALL_LOSSES)
    return writeCall(part, argumentsOf(part, path, this.context.losses))
  }

  /** Writes a search that an upstream of this format signed, and describes any other search in words. */
  private search(part: Part & { type: 'search-call' | 'search-result' }, path: Path): void {
    if (extrasFor(part, FORMAT)['signature'] !== undefined) this.step(writeSearch(part))
    else this.addContent(searchInWords(part, path, this.context.losses) satisfies TextPart, path)
  }

  private think(part: ReasoningPart, path: Path): void {
    const { losses } = this.context
    if (part.cache !== undefined) losses.drop([...path, 'cache'], 'no-cache-markers')
    const signature = signatureFor(part, path, this.context)
    if (part.redacted !== undefined && signature === undefined) return losses.drop(path, 'no-hidden-reasoning')
    if (part.redacted !== undefined) losses.dropRestored([...path, 'redacted'], 'implied-by-the-proof')
    const extras = contentExtras(part)
    if (part.text === '' && signature === undefined && Object.keys(extras).length === 0) return
    const { lastReasoning } = this
    if (part.continues !== undefined && lastReasoning !== undefined) return this.continue(lastReasoning, part, path)
    this.step(writeThought(part, signature))
    this.lastReasoning = signature === undefined && Object.keys(extras).length === 0 ? { part, path } : undefined
  }

  /** Appends a chunk to the preceding reasoning, because clients store the chunks of a stream separately. */
  private continue({ part: before, path: at }: OpenReasoning, part: ReasoningPart, path: Path): void {
    const { losses } = this.context
    const joined = { ...before, text: before.text + part.text }
    losses.drop(path, 'joined-with-the-one-before')
    losses.change([...at, 'text'], joined.text, 'joined-with-the-next')
    this.steps[this.steps.length - 1] = writeThought(joined, undefined)
    this.lastReasoning = { part: joined, path: at }
  }
}

/** Returns the signature if an upstream of this format issued it. Any other signature is dropped (trap 30). */
function signatureFor({ signature }: ReasoningPart, path: Path, { losses }: WriteContext): string | undefined {
  if (signature === undefined || signature.format === FORMAT) return signature?.value
  return losses.drop([...path, 'signature'], `only-in-${signature.format}`)
}
