import type { MediaPart, Part, ReasoningPart, Signature, ToolCallPart } from '../../canonical/content.ts'
import { append } from '../../canonical/lists.ts'
import type { Path, Unwritten } from '../../canonical/loss.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { Message } from '../../canonical/request.ts'
import { isLoneSignature } from '../../canonical/signature.ts'
import { defined, extrasFor } from '../fields.ts'
import { signatureExtra } from './answer.ts'
import { around, contentOf, FORMAT, type WriteContext, writePart } from './content.ts'
import { detailsIn } from './reasoning-details.ts'

/**
 * Writes an assistant turn. Reasoning, content, audio and calls have separate fields, and readers read them in this
 * order.
 */
export function writeAssistant(message: Message, path: Path, context: WriteContext): JsonObject {
  const fields = message.content.map(part => fieldOf(part, context))
  reportOrder(fields, [...path, 'content'], context)
  const turn = new Turn(message, context)
  for (const [index, part] of message.content.entries()) turn.addPart(part, fields[index]!, [...path, 'content', index])
  return turn.written()
}

/** Fields of an assistant turn, ranked in the order in which readers read them. */
export const FIELD_ORDER = { thoughts: 0, content: 1, audio: 2, calls: 3 } as const
export type Field = keyof typeof FIELD_ORDER

/** Returns the field to which a part of an assistant turn is written. */
export function fieldOf(part: Part, { dialect }: WriteContext): Field {
  switch (part.type) {
    case 'reasoning':
      if (isCallSignature(part, dialect)) return 'calls'
      return dialect.reasoning_field === 'parts' && detailsIn(part.signature) === undefined ? 'content' : 'thoughts'
    case 'media':
      return part.source.type === 'file-id' && part.kind === 'audio' ? 'audio' : 'content'
    case 'tool-call':
      return 'calls'
    default:
      return 'content'
  }
}

/** Returns true if the part is Google's signature of the next call, for an upstream that takes it (trap 31). */
const isCallSignature = (part: Part, { call_signatures }: WriteContext['dialect']): part is SignaturePart =>
  call_signatures === true && isLoneSignature(part) && part.signature.format === 'contents'
type SignaturePart = ReasoningPart & Required<Pick<ReasoningPart, 'signature'>>

function reportOrder(fields: readonly Field[], path: Path, { losses }: WriteContext): void {
  const order = [...fields.keys()].sort((a, b) => FIELD_ORDER[fields[a]!] - FIELD_ORDER[fields[b]!] || a - b)
  losses.reorder(path, order, fields.length, 'fields-have-an-order')
}

/** Separator between reasoning parts in one field. */
export const SEPARATOR = '\n\n'

/** The turn's reasoning so far, joined into one string. */
interface JoinedReasoning {
  /** The path of the first reasoning part. */
  readonly path: Path
  readonly text: string
  /** The signature of the first reasoning part. */
  readonly signature?: Signature | undefined
  /** The content part with the text, for upstreams that accept reasoning as content parts. */
  readonly wire?: JsonObject
}
const REASONING_PART_LOSSES: Unwritten<ReasoningPart, 'type' | 'text' | 'redacted' | 'continues'> = {
  signature: 'no-signatures',
  cache: 'no-cache-markers-here',
}
const { signature: _, ...SIGNED_PART_LOSSES } = REASONING_PART_LOSSES

/** Fields for reasoning text beside the content. */
const TEXT_FIELDS: ReadonlySet<string | undefined> = new Set(['reasoning_content', 'reasoning'])

/** Collects the parts of an assistant turn by field, then writes the message. */
export class Turn {
  private readonly content: JsonObject[] = []
  private readonly calls: JsonObject[] = []
  private readonly fields: { [field: string]: Json } = {}
  private joinedReasoning: JoinedReasoning | undefined
  /** Google's signature of the next call, and the path of the reasoning part that has it. */
  private callSignature: { readonly value: string; readonly path: Path } | undefined
  /** Reasoning details that the upstream issued in this turn. */
  private readonly details: JsonObject[] = []
  private readonly message: Message
  private readonly context: WriteContext

  constructor(message: Message, context: WriteContext) {
    this.message = message
    this.context = context
  }

  addPart(part: Part, field: Field, path: Path): void {
    if (part.type !== 'tool-call') this.dropSignature()
    if (isCallSignature(part, this.context.dialect)) this.callSignature = { value: part.signature.value, path }
    else if (part.type === 'reasoning') this.reasoning(part, field, path)
    else if (part.type === 'tool-call') this.call(part, path)
    else if (field === 'audio') this.audio(part as MediaPart, path)
    else if (part.type === 'media') this.context.losses.drop(path, 'no-media-from-assistants')
    else {
      const wire = writePart(part, path, this.context)
      if (wire !== undefined) this.content.push(wire)
    }
  }

  private reasoning(part: ReasoningPart, field: Field, path: Path): void {
    const { dialect, losses } = this.context
    const details = part.redacted ? undefined : detailsIn(part.signature)
    if (details !== undefined) return this.signedReasoning(part, details, path)
    if ((dialect.reasoning_field ?? 'none') === 'none') return losses.drop(path, 'no-reasoning-in-history')
    if (part.redacted || (part.text === '' && part.signature !== undefined))
      return losses.drop(path, 'no-hidden-reasoning')
    losses.dropFields(part, path, REASONING_PART_LOSSES)
    if (part.extras?.[FORMAT] !== undefined) losses.drop([...path, 'extras', FORMAT], 'no-equivalent-field')
    if (field === 'thoughts') {
      this.joinedReasoning = this.join(this.joinedReasoning, part, path)
      return
    }
    const continues =
      part.continues !== undefined && this.content.length > 0 && this.content.at(-1) === this.joinedReasoning?.wire
    const joinedReasoning = this.join(continues ? this.joinedReasoning : undefined, part, path)
    const wire = thinkingPart(joinedReasoning.text)
    if (continues) this.content.pop()
    this.content.push(wire)
    this.joinedReasoning = { ...joinedReasoning, wire }
  }

  /** Writes reasoning with details back to their issuer. The details contain the text, too. */
  private signedReasoning(part: ReasoningPart, details: readonly JsonObject[], path: Path): void {
    const { dialect, losses } = this.context
    losses.dropFields(part, path, SIGNED_PART_LOSSES)
    if (part.extras?.[FORMAT] !== undefined) losses.drop([...path, 'extras', FORMAT], 'no-equivalent-field')
    const text = TEXT_FIELDS.has(dialect.reasoning_field) ? part.text : ''
    if (text !== part.text) losses.changeRestored([...path, 'text'], '', 'in-the-details')
    this.joinedReasoning = this.join(this.joinedReasoning, { ...part, text }, path)
    append(this.details, details)
  }

  /**
   * Appends reasoning to the existing string, because the field holds only one string. Streamed chunks of one reasoning
   * part are concatenated without a separator.
   */
  private join(before: JoinedReasoning | undefined, part: ReasoningPart, path: Path): JoinedReasoning {
    const { text, continues, signature } = part
    if (before === undefined) return { path, text, signature }
    const { losses } = this.context
    const separator = continues === undefined && before.text !== '' && text !== '' ? SEPARATOR : ''
    const joinedText = before.text + separator + text
    if (text === '') losses.dropRestored(path, 'joined-with-the-one-before')
    else losses.drop(path, 'joined-with-the-one-before')
    if (joinedText !== before.text) losses.change([...before.path, 'text'], joinedText, 'joined-with-the-next')
    return { path: before.path, text: joinedText, signature: before.signature }
  }

  private audio(part: MediaPart, path: Path): void {
    const { source } = part
    if (source.type !== 'file-id' || source.format !== FORMAT || this.fields['audio'] !== undefined)
      return this.context.losses.drop(path, 'no-such-audio')
    this.context.losses.dropFields(part, path, AUDIO_LOSSES)
    if (source.mediaType !== undefined)
      this.context.losses.drop([...path, 'source', 'mediaType'], 'no-media-type-of-ids')
    this.fields['audio'] = { id: source.id, ...extrasFor(part, FORMAT) }
  }

  private call(part: ToolCallPart, path: Path): void {
    if (part.cache !== undefined) this.context.losses.drop([...path, 'cache'], 'no-cache-markers-here')
    const signatureFields = this.callSignature === undefined ? {} : signatureExtra(this.callSignature.value)
    this.calls.push({ ...writeCall(part), ...signatureFields })
    this.callSignature = undefined
  }

  /** Reports a signature that no call follows directly as lost. */
  private dropSignature(): void {
    if (this.callSignature !== undefined) this.context.losses.drop(this.callSignature.path, 'no-hidden-reasoning')
    this.callSignature = undefined
  }

  written(): JsonObject {
    this.dropSignature()
    const { message, context } = this
    const lacksContent = this.content.length === 0 && (this.calls.length > 0 || this.fields['audio'] !== undefined)
    return {
      role: 'assistant',
      content: lacksContent ? null : contentOf(this.content, context.dialect),
      ...defined({ name: message.name }),
      ...this.reasoningFields(),
      ...this.detailsField(),
      ...this.fields,
      ...(this.calls.length === 0 ? {} : { tool_calls: this.calls }),
      ...extrasFor(message, FORMAT),
    }
  }

  private reasoningFields(): JsonObject {
    const { joinedReasoning, context } = this
    if (joinedReasoning === undefined || joinedReasoning.wire !== undefined) return {}
    if (joinedReasoning.text === '' && this.details.length > 0) return {}
    return { [context.dialect.reasoning_field!]: joinedReasoning.text }
  }

  private detailsField(): JsonObject {
    const { joinedReasoning, details } = this
    if (joinedReasoning === undefined || details.length === 0) return {}
    const { path, signature } = joinedReasoning
    const became = { format: FORMAT, value: JSON.stringify(details) }
    if (signature?.value !== became.value)
      this.context.losses[signature === undefined ? 'addRestored' : 'changeRestored'](
        [...path, 'signature'],
        became,
        'joined-with-the-next',
      )
    return { reasoning_details: details }
  }
}

/** Writes reasoning as a content part, which is the form that Mistral accepts. */
export const thinkingPart = (text: string): JsonObject => ({ type: 'thinking', thinking: [{ type: 'text', text }] })

const AUDIO_LOSSES: Unwritten<MediaPart, 'type' | 'kind' | 'source' | 'made' | 'use'> = {
  name: 'no-name-here',
  detail: 'no-detail-here',
  transcript: 'no-transcript-in-requests',
  cache: 'no-cache-markers-here',
}

/** Writes a tool call. Empty arguments become `{}` (trap 8). */
export function writeCall(part: ToolCallPart): JsonObject {
  const { id, name } = part
  if (part.freeform) return { id, ...around(part, 'custom', { name, input: part.arguments }) }
  return { id, ...around(part, 'function', { name, arguments: part.arguments === '' ? '{}' : part.arguments }) }
}
