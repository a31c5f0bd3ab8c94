import { AnswerIds } from '../../canonical/call-ids.ts'
import type { MediaPart, OpaquePart, Part, ReasoningPart, ToolCallPart } from '../../canonical/content.ts'
import { bodyOf } from '../../canonical/fold.ts'
import { childPath, type Losses, type Path, type Unwritten, type Written } from '../../canonical/loss.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { type Candidate, type CanonicalResult, endContentOf } from '../../canonical/result.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { defined, extrasFor } from '../fields.ts'
import { reportFinish, stopField, writeAnswer } from '../openai-answer.ts'
import { NO_TIMES } from '../sanitize/unwritten.ts'
import {
  isAudio,
  isHidden,
  isImage,
  reasoningField,
  shownSignature,
  signatureExtra,
  signsCall,
  Texts,
  writeFinish,
  writeImage,
  writeLogprob,
} from './answer.ts'
import { writeCall } from './assistant.ts'
import { FORMAT } from './content.ts'

/** Writes a unary answer as a `chat.completion` (docs/wire/chat.md#response). */
export const writeResult = (result: CanonicalResult, request: CanonicalRequest): Written<WireAnswer> =>
  writeAnswer(result, request, {
    format: FORMAT,
    object: 'chat.completion',
    writeChoice: (candidate, index, losses) => writeChoice(candidate, index, request, losses),
  })

function writeChoice(candidate: Candidate, index: number, request: CanonicalRequest, losses: Losses): JsonObject {
  const path: Path = ['candidates', index]
  const { message: extras, ...choiceExtras } = extrasFor(candidate, FORMAT)
  const content = { ...writeMessage(candidate, path, request, losses), ...(extras as JsonObject | undefined) }
  const endContent = endContentOf(candidate)
  const finish_reason = writeFinish(candidate.finish, endContent)
  const stopFields = stopField(candidate, FORMAT)
  reportFinish(candidate.finish, finish_reason, path, losses, stopFields, endContent)
  losses.dropFields(candidate, path, NO_TIMES)
  const { logprobs } = candidate
  const writtenLogprobs = logprobs === undefined ? null : { content: logprobs.map(writeLogprob), refusal: null }
  return { index, message: content, logprobs: writtenLogprobs, finish_reason, ...stopFields, ...choiceExtras }
}

/** Writes the message of a choice. Parts of a kind for which the message has no field are reported as lost. */
function writeMessage(candidate: Candidate, path: Path, request: CanonicalRequest, losses: Losses): JsonObject {
  const message = new MessageWriter(losses, request)
  const contentPath = childPath(path, 'content')
  reportOrder(candidate.content, contentPath, losses)
  reportJoined(candidate.content, contentPath, losses)
  candidate.content.forEach((part, index) => {
    message.addPart(part, candidate.content[index + 1], childPath(contentPath, index))
  })
  return message.written()
}

/** Order in which readers read the fields of a message. */
const FIELD_RANKS: { readonly [T in Part['type']]: number } = {
  ...{
    reasoning: 0,
    text: 1,
    opaque: 1,
    refusal: 2,
    media: 3,
    'tool-call': 5,
    'tool-result': 6,
    'search-call': 6,
    'search-result': 6,
    embedding: 6,
    rank: 6,
  },
}

/** Rank of images: after spoken audio, before calls. */
const IMAGE_RANK = 4

function rankOf(part: Part, next: Part | undefined): number {
  if (signsCall(part, next) && bodyOf(part) === '') return FIELD_RANKS['tool-call']
  return isImage(part) ? IMAGE_RANK : FIELD_RANKS[part.type]
}

function reportOrder(content: readonly Part[], path: Path, losses: Losses): void {
  if (content.length < 2) return
  const rank = content.map((part, index) => rankOf(part, content[index + 1]))
  const order = [...rank.keys()].sort((a, b) => rank[a]! - rank[b]! || a - b)
  reportSeparated(content, order, path, losses)
  losses.reorder(path, order, content.length, 'fields-have-an-order')
}

/**
 * Reports signatures that are separated from their reasoning by other fields. The format attaches the signature to the
 * call, so readers assign it to the call without the reasoning text.
 */
function reportSeparated(content: readonly Part[], order: readonly number[], path: Path, losses: Losses): void {
  for (const [position, index] of order.entries()) {
    const call = content[index]!
    const reasoning = content[index - 1]
    if (reasoning?.type !== 'reasoning' || !signsCall(reasoning, call)) continue
    if (reasoning.text === '' || order[position - 1] === index - 1) continue
    const { signature } = reasoning
    losses.drop([...path, index - 1, 'signature'], 'signs-the-call')
    losses.insert([...path, position], { type: 'reasoning', text: '', signature }, 'signs-the-call')
  }
}

/**
 * Reports reasoning parts before a signed call that are joined in one field. To readers, the call's signature covers
 * the joined text.
 */
function reportJoined(content: readonly Part[], path: Path, losses: Losses): void {
  if (content.length < 2) return
  const reasoning = [...content.entries()].filter(([, part]) => part.type === 'reasoning' && isShown(part))
  if (reasoning.length < 2 || !content.some((part, index) => signsCall(part, content[index + 1]))) return
  const joinedText = reasoning.map(([, part]) => bodyOf(part)).join('')
  for (const [position, [index]] of reasoning.entries())
    losses.change([...path, index, 'text'], position === 0 ? joinedText : '', 'one-reasoning-text')
}

const isShown = (part: ReasoningPart): boolean => part.text !== '' && !isHidden(part)

const MEDIA_LOSSES: Unwritten<MediaPart, 'type' | 'kind' | 'source' | 'transcript' | 'made' | 'use' | 'cache'> = {
  name: 'no-name-here',
  detail: 'no-detail-here',
}

/** Collects the parts of a message by field, then writes the message. */
class MessageWriter {
  private readonly texts = new Texts()
  private readonly reasoningParts: ReasoningPart[] = []
  private readonly calls: JsonObject[] = []
  private readonly images: JsonObject[] = []
  private readonly fields: { refusal?: string; audio?: JsonObject } = {}
  private signature: string | undefined
  private readonly losses: Losses
  private readonly request: CanonicalRequest
  private readonly ids: AnswerIds

  constructor(losses: Losses, request: CanonicalRequest) {
    this.losses = losses
    this.request = request
    this.ids = new AnswerIds(request, FORMAT)
  }

  addPart(part: Part, next: Part | undefined, path: Path): void {
    if (part.type !== 'opaque') this.reportNode(part, path)
    switch (part.type) {
      case 'text':
        return this.texts.add(part, path)
      case 'reasoning':
        return this.reasoning(part, next, path)
      case 'refusal':
        this.fields.refusal = (this.fields.refusal ?? '') + part.text
        return
      case 'tool-call':
        return this.call(part, path)
      case 'search-call':
      case 'search-result':
        return this.losses.drop(path, 'no-searches')
      case 'opaque':
        return this.opaque(part, path)
      default:
        if (isAudio(part) && this.fields.audio === undefined) this.addSpeech(part, path)
        else if (isImage(part)) this.images.push(writeImage(part, path, this.losses))
        else this.losses.drop(path, 'no-such-content')
    }
  }

  /** Reports lost cache markers and extras. Only parts that are written as objects can have extras. */
  private reportNode(part: Exclude<Part, OpaquePart>, path: Path): void {
    if (part.cache !== undefined) this.losses.drop([...path, 'cache'], 'no-cache-markers-here')
    if (part.extras?.[FORMAT] === undefined || part.type === 'tool-call' || isAudio(part) || isImage(part)) return
    this.losses.drop([...path, 'extras', FORMAT], 'no-equivalent-field')
  }

  private reasoning(part: ReasoningPart, next: Part | undefined, path: Path): void {
    if (signsCall(part, next)) {
      this.signature = shownSignature(part, part.signature!)
      if (part.text !== '') this.reasoningParts.push(part)
    } else if (isHidden(part)) this.losses.drop(path, 'no-hidden-reasoning')
    else {
      if (part.signature !== undefined) this.losses.drop([...path, 'signature'], 'no-signatures')
      if (part.text === '') this.losses.dropRestored(path, 'nothing-reasoned')
      else this.reasoningParts.push(part)
    }
  }

  private call(part: ToolCallPart, path: Path): void {
    if (part.namespace !== undefined) this.losses.drop([...path, 'namespace'], 'no-namespaces')
    const signatureFields = this.signature === undefined ? {} : signatureExtra(this.signature)
    const id = this.ids.call(part.id, part.name)
    if (id !== part.id) this.losses.changeRestored([...path, 'id'], id, 'id-made-unique')
    this.calls.push({ ...writeCall(id === part.id ? part : { ...part, id }), ...signatureFields })
    this.signature = undefined
  }

  private opaque(part: OpaquePart, path: Path): void {
    if (part.format !== FORMAT) {
      if (part.text !== undefined) this.texts.add({ type: 'text', text: part.text }, path)
    } else this.losses.drop(path, 'no-equivalent-field')
  }

  private addSpeech(part: MediaPart, path: Path): void {
    const { source, transcript } = part
    this.losses.dropFields(part, path, MEDIA_LOSSES)
    if (source.type !== 'base64') return
    const mediaType = this.request.output.audio?.mediaType ?? 'audio/wav'
    if (mediaType !== source.mediaType) this.losses.change([...path, 'source', 'mediaType'], mediaType, 'type-as-asked')
    this.fields.audio = defined({ data: source.data, transcript, ...extrasFor(part, FORMAT) }) as JsonObject
  }

  written(): JsonObject {
    const calls = this.calls.length > 0 ? { tool_calls: this.calls } : {}
    const images = this.images.length === 0 ? {} : { images: this.images }
    return {
      ...{ role: 'assistant', ...this.content(), refusal: null, ...this.reasoningFields() },
      ...{ ...images, ...calls, ...this.fields },
    }
  }

  private content(): { content: Json; annotations?: readonly JsonObject[] } {
    if (!this.texts.hasText) return { content: this.hasOtherContent ? null : '' }
    const { text, annotations } = this.texts.joined(this.losses)
    return annotations.length === 0 ? { content: text } : { content: text, annotations }
  }

  /** True if the message has calls, a refusal or sound. Without any, OpenAI refuses `null` as content of a history. */
  private get hasOtherContent(): boolean {
    return this.calls.length > 0 || Object.keys(this.fields).length > 0
  }

  private reasoningFields(): JsonObject {
    const [first] = this.reasoningParts
    if (first === undefined) return {}
    return { [reasoningField(first)]: this.reasoningParts.map(part => part.text).join('') }
  }
}
