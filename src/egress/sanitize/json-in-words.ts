import type { TextPart } from '../../canonical/content.ts'
import { type Loss, lose, type Path, shifted, type Written } from '../../canonical/loss.ts'
import { type CanonicalRequest, isInstructing, type Message } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'

/*
 * OpenAI, DeepSeek and others refuse a request for JSON without a schema unless its messages contain the word "json"
 * (docs/wire/chat.md#request). Upstreams that take no schema get it in words.
 */

/** Loss reason: the gateway asked for JSON in words. */
export const JSON_IN_WORDS = 'json-asked-for-in-words'

const ANY_OBJECT = 'Answer with a JSON object.'
const MATCHING = 'Answer with a JSON object that matches this JSON Schema:'
const BARE = 'Write nothing before or after the JSON, and no Markdown code fence around it.'

export interface JsonRule {
  /** True if the upstream takes a schema. */
  readonly schemas: boolean
  /** True if leading system text is written as instructions, in which the upstream does not look for the word. */
  readonly skipsInstructions?: true
  /** Role of a message that is added. Defaults to the one for instructions. */
  readonly role?: Message['role']
  /** True if nothing but the words asks for JSON, so that a model may put it into Markdown or a sentence. */
  readonly bare?: true
}

/** Rule for an upstream that takes neither the schema nor a request for JSON. */
export const WORDS_ALONE: JsonRule = { schemas: false, bare: true }

type Write = (request: CanonicalRequest) => Written<WireRequest>

/** Writes a request, after adding words that ask for JSON to its instructions if the upstream needs them. */
export function withJsonInWords(request: CanonicalRequest, rule: JsonRule, write: Write): Written<WireRequest> {
  const text = wordsFor(request, rule)
  if (text === undefined) return write(request)
  const written = withWords(request, rule, text, write)
  return rule.bare ? { ...written, mayBeFenced: true } : written
}

function withWords(request: CanonicalRequest, rule: JsonRule, text: string, write: Write): Written<WireRequest> {
  const { messages } = request
  const part: TextPart = { type: 'text', text }
  const [first] = messages
  if (first === undefined || !isInstructing(first.role) || (rule.skipsInstructions && first.content.length === 0)) {
    const { role = rule.skipsInstructions ? 'developer' : 'system' } = rule
    const inserted: Message = { role, content: [part] }
    const written = write({ ...request, messages: [inserted, ...messages] })
    const value = lose(inserted, lossesWithin(FIRST, written.losses))
    const edit: Loss = { kind: 'inserted', path: FIRST, value, reason: JSON_IN_WORDS }
    return { ...written, losses: [...written.losses.flatMap(beforeInsertion), edit] }
  }
  const path = ['messages', 0, 'content', first.content.length]
  const written = write({ ...request, messages: messages.with(0, { ...first, content: [...first.content, part] }) })
  const value = lose(part, lossesWithin(path, written.losses))
  return { ...written, losses: [{ kind: 'inserted', path, value, reason: JSON_IN_WORDS }, ...written.losses] }
}

/** Path of the first message. */
const FIRST: Path = ['messages', 0]

/** Returns the losses within an inserted value, such as an added cache marker, with paths that begin at the value. */
const lossesWithin = (path: Path, losses: readonly Loss[]): readonly Loss[] =>
  losses
    .filter(loss => loss.path.length > path.length && path.every((step, index) => loss.path[index] === step))
    .map(loss => ({ ...loss, path: loss.path.slice(path.length) }))

/**
 * Maps a loss to the messages before one was inserted ahead of them. The order of the messages and other insertions
 * stay as they are, because a loss at the end of a list is applied before them.
 */
function beforeInsertion(loss: Loss): readonly Loss[] {
  const [field, , ...inside] = loss.path
  const changesOrder = inside.length === 0 && (loss.kind === 'moved' || loss.kind === 'inserted')
  if (field !== 'messages' || changesOrder) return [loss]
  const original = shifted(loss, -1)
  return original === undefined ? [] : [original]
}

/** Returns the words that the request needs, or undefined if it needs none. */
function wordsFor({ output, messages }: CanonicalRequest, rule: JsonRule): string | undefined {
  const text = output.compaction === true ? undefined : output.text
  const end = rule.bare ? `\n${BARE}` : ''
  if (text?.shape === 'schema') return rule.schemas ? undefined : `${MATCHING}\n${JSON.stringify(text.schema)}${end}`
  if (text?.shape !== 'json') return undefined
  const searched = rule.skipsInstructions && messages[0]?.role === 'system' ? messages.slice(1) : messages
  return !rule.bare && searched.some(mentionsJson) ? undefined : `${ANY_OBJECT}${end}`
}

const mentionsJson = ({ content }: Message): boolean =>
  content.some(part => part.type === 'text' && /json/i.test(part.text))
