import { encodeBase64 } from '../../../canonical/base64.ts'
import type { CanonicalError } from '../../../canonical/error.ts'
import type { JsonObject } from '../../../canonical/node.ts'
import type { ConversationItem, VoiceSessionSettings } from '../../../canonical/voice-session.ts'
import type { OutputPosition, Position, ServerEvent } from '../../../canonical/voice-session-event.ts'
import { MAX_RUNNING } from '../../limits.ts'
import { writeError } from './errors.ts'
import { ItemOrder } from './item-order.ts'
import { writeItem } from './items.ts'
import { type OpenPart, OpenResponse } from './open-response.ts'
import { writeSettings } from './settings-writer.ts'
import { writeTranscriptUsage, writeUsage } from './usage.ts'
import { eventName, modalitiesIn, type Naming, REALTIME } from './wire.ts'

export interface ServerWriterOptions {
  readonly naming: Naming
  readonly newId: (prefix: string) => string
}

/** Writes frames for a caller, including the full text at the end of each part, item and response. */
export class ServerWriter {
  private readonly naming: Naming
  private readonly newId: (prefix: string) => string
  private readonly open = new Map<string, OpenResponse>()
  private readonly sessionId: string
  private readonly conversation: string
  private readonly order = new ItemOrder()
  private settings: VoiceSessionSettings = {}

  constructor({ naming, newId }: ServerWriterOptions) {
    this.naming = naming
    this.newId = newId
    this.sessionId = newId('sess')
    this.conversation = newId('conv')
  }

  /** Writes the frames of one event. Events that only other formats define yield no frames. */
  write(event: ServerEvent): readonly string[] {
    switch (event.type) {
      case 'audio-delta':
        return [this.delta(event.at, 'audio', encodeBase64(event.audio))]
      case 'text-delta':
        return [this.delta(event.at, 'text', event.text)]
      case 'transcript-delta':
        return [this.delta(event.at, 'transcript', event.text)]
      case 'arguments-delta':
        return [this.delta(event.at, 'arguments', event.text)]
      case 'session-created':
        return this.created(event)
      case 'session-updated':
        this.settings = event.settings
        return [this.sessionFrame('updated', event.settings)]
      case 'item-added':
        return [this.item('conversation.item.added', event.item, this.order.add(event.item.id!, event.after))]
      case 'item-done':
        if (this.naming === 'beta') return NO_FRAMES
        return [this.item('conversation.item.done', event.item, event.after ?? this.order.before(event.item.id!))]
      case 'item-retrieved':
        return [this.frame('conversation.item.retrieved', { item: writeItem(event.item, this.naming, true) })]
      case 'item-deleted':
        this.order.delete(event.item)
        return [this.frame('conversation.item.deleted', { item_id: event.item })]
      case 'item-truncated':
        return [
          this.frame('conversation.item.truncated', {
            item_id: event.item,
            content_index: event.part,
            audio_end_ms: event.audioEndMs,
          }),
        ]
      case 'speech-started':
        return [this.frame('input_audio_buffer.speech_started', { audio_start_ms: event.atMs, item_id: event.item })]
      case 'speech-stopped':
        return [this.frame('input_audio_buffer.speech_stopped', { audio_end_ms: event.atMs, item_id: event.item })]
      case 'audio-committed':
        return [
          this.frame('input_audio_buffer.committed', {
            ...(event.after === undefined ? {} : { previous_item_id: event.after }),
            item_id: event.item,
          }),
        ]
      case 'audio-cleared':
        return [this.frame('input_audio_buffer.cleared', {})]
      case 'audio-timed-out':
        return [
          this.frame('input_audio_buffer.timeout_triggered', {
            item_id: event.item,
            audio_start_ms: event.startMs,
            audio_end_ms: event.endMs,
          }),
        ]
      case 'input-transcript-delta':
        return [this.transcript('delta', event, { delta: event.text })]
      case 'input-transcript-done':
        return [this.transcript('completed', event, { transcript: event.text, ...transcriptUsage(event) })]
      case 'input-transcript-failed':
        return [this.transcript('failed', event, { error: writeError(event.error) })]
      case 'response-start':
        return this.start(event)
      case 'output-start':
        return this.output(event)
      case 'part-start':
        return this.part(event)
      case 'part-end':
        return this.endPart(event.at)
      case 'output-end':
        return this.endOutput(event)
      case 'response-end':
        return this.end(event)
      case 'rate-limits':
        return [
          this.frame('rate_limits.updated', {
            rate_limits: event.limits.map(({ name, limit, remaining, resetSeconds }) => ({
              ...{ name, limit, remaining },
              reset_seconds: resetSeconds,
            })),
          }),
        ]
      case 'error':
        return [this.frame('error', { error: writeError(event.error, event.event) })]
      case 'opaque':
        return event.format === REALTIME ? [JSON.stringify(event.value)] : NO_FRAMES
    }
  }

  /** Announces the session and its conversation, for which clients of xAI wait. */
  private created({ settings, expiresAt }: Extract<ServerEvent, { type: 'session-created' }>): string[] {
    this.settings = settings
    const session = this.sessionFrame('created', settings, expiresAt)
    if (settings.purpose === 'transcription') return [session]
    const conversation = { id: this.conversation, object: 'realtime.conversation' }
    return [session, this.frame('conversation.created', { conversation })]
  }

  private frame(name: string, fields: JsonObject): string {
    return JSON.stringify({ type: eventName(name, this.naming), event_id: this.newId('event'), ...fields })
  }

  private sessionFrame(what: 'created' | 'updated', settings: VoiceSessionSettings, expiresAt?: number): string {
    const transcribes = settings.purpose === 'transcription' && this.naming === 'beta'
    const name = transcribes ? `transcription_session.${what}` : `session.${what}`
    return this.frame(name, { session: this.session(settings, expiresAt) })
  }

  private session(settings: VoiceSessionSettings, expiresAt?: number): JsonObject {
    const type = settings.purpose === 'transcription' ? 'transcription' : 'realtime'
    return {
      ...(this.naming === 'ga' ? { type } : {}),
      object: type === 'transcription' ? 'realtime.transcription_session' : 'realtime.session',
      id: this.sessionId,
      ...(expiresAt === undefined ? {} : { expires_at: expiresAt }),
      ...writeSettings(settings, this.naming),
    }
  }

  private item(name: string, item: ConversationItem, before: Position): string {
    return this.frame(name, { previous_item_id: before, item: writeItem(item, this.naming, true) })
  }

  private transcript(name: string, { item, part }: { item: string; part: number }, fields: JsonObject): string {
    return this.frame(`conversation.item.input_audio_transcription.${name}`, {
      item_id: item,
      content_index: part,
      ...fields,
    })
  }

  private start(event: Extract<ServerEvent, { type: 'response-start' }>): string[] {
    const { response, modalities, metadata, detached } = event
    const requestedModalities = modalities ?? this.settings.modalities ?? ['audio']
    const open = new OpenResponse(response, this.naming, {
      conversation_id: detached === true ? null : this.conversation,
      [this.naming === 'beta' ? 'modalities' : 'output_modalities']: modalitiesIn(requestedModalities, this.naming),
      metadata: metadata ?? null,
    })
    this.open.set(response, open)
    return [...this.failOldest(), this.frame('response.created', { response: open.value('in_progress', null, null) })]
  }

  /** Fails the oldest response if there are too many, so that the caller does not wait for its end. */
  private failOldest(): string[] {
    if (this.open.size <= MAX_RUNNING) return []
    const [oldest] = this.open.keys()
    return this.end({ type: 'response-end', response: oldest!, status: 'failed', error: TOO_MANY_RESPONSES })
  }

  private output(event: Extract<ServerEvent, { type: 'output-start' }>): string[] {
    const { response, output, item, after } = event
    const open = this.open.get(response)
    if (open === undefined) return []
    open.add(output, item)
    const wireItem = writeItem({ ...item, status: 'in_progress' }, this.naming, true)
    const added = this.frame('response.output_item.added', {
      ...{ response_id: response, output_index: output, item: wireItem },
    })
    if (open.isDetached) return [added]
    const before = this.order.add(item.id, after)
    return [added, this.frame('conversation.item.added', { previous_item_id: before, item: wireItem })]
  }

  private part({ at, kind }: Extract<ServerEvent, { type: 'part-start' }>): string[] {
    const part = this.open.get(at.response)?.startPart(at, kind)
    if (part === undefined) return []
    return [this.frame('response.content_part.added', { ...positionOf(at), part: part.value(true) })]
  }

  /** Writes a delta by concatenation. The constant prefix is built once per part, because deltas are frequent. */
  private delta(at: OutputPosition, kind: DeltaKind, text: string): string {
    const part = this.open.get(at.response)?.part(at, kind)
    if (part !== undefined && kind !== 'audio') part.text += text
    const head = part?.heads[kind] ?? headOf(at, kind, this.naming, part?.callId)
    if (part !== undefined) part.heads[kind] = head
    return `${head}${kind === 'audio' ? text : JSON.stringify(text).slice(1, -1)}","event_id":"${this.newId('event')}"}`
  }

  private endPart(at: OutputPosition): string[] {
    const part = this.open.get(at.response)?.end(at)
    return part === undefined ? [] : this.partFrames(at, part)
  }

  private partFrames(at: OutputPosition, part: OpenPart): string[] {
    const position = positionOf(at)
    const { text } = part
    const whole =
      part.kind === 'text'
        ? [this.frame('response.output_text.done', { ...position, text })]
        : [
            this.frame('response.output_audio.done', position),
            this.frame('response.output_audio_transcript.done', { ...position, transcript: text }),
          ]
    return [...whole, this.frame('response.content_part.done', { ...position, part: part.value(true) })]
  }

  private endOutput(event: Extract<ServerEvent, { type: 'output-end' }>): string[] {
    const { response, output, status } = event
    const open = this.open.get(response)
    const closed = open?.close(output, status)
    if (open === undefined || closed === undefined) return []
    const { item, parts, call } = closed
    const frames = parts.flatMap(({ at, part }) => this.partFrames(at, part))
    if (call !== undefined)
      frames.push(
        this.frame('response.function_call_arguments.done', {
          ...{ response_id: response, item_id: item.id!, output_index: output },
          ...{ call_id: call.id, name: call.name, arguments: call.arguments },
        }),
      )
    const wireItem = writeItem(item, this.naming, true)
    if (this.naming === 'ga' && !open.isDetached) frames.push(this.frame('conversation.item.done', { item: wireItem }))
    frames.push(
      this.frame('response.output_item.done', { response_id: response, output_index: output, item: wireItem }),
    )
    return frames
  }

  private end(event: Extract<ServerEvent, { type: 'response-end' }>): string[] {
    const { response, status, reason, error, usage } = event
    const open = this.open.get(response)
    if (open === undefined) return []
    const itemStatus = status === 'completed' ? 'completed' : 'incomplete'
    const frames = open.unfinished.flatMap(({ output, item }) =>
      this.endOutput({ type: 'output-end', response, output, item, status: itemStatus }),
    )
    this.open.delete(response)
    const details =
      status === 'completed'
        ? null
        : {
            type: status,
            ...(reason === undefined ? {} : { reason }),
            ...(error === undefined ? {} : { error: writeError(error) }),
          }
    const whole = open.value(status, details, usage === undefined ? null : writeUsage(usage))
    return [...frames, this.frame('response.done', { response: whole })]
  }
}

const NO_FRAMES: readonly string[] = []

const TOO_MANY_RESPONSES: CanonicalError = {
  kind: 'upstream-failed',
  code: 'too_many_responses',
  message: 'The upstream started too many responses without ending them.',
}

type DeltaKind = 'text' | 'audio' | 'transcript' | 'arguments'

const DELTAS: { readonly [G in DeltaKind]: string } = {
  text: 'response.output_text.delta',
  audio: 'response.output_audio.delta',
  transcript: 'response.output_audio_transcript.delta',
  arguments: 'response.function_call_arguments.delta',
}

function headOf(at: OutputPosition, kind: DeltaKind, naming: Naming, callId: string | undefined): string {
  const { response, item, output } = at
  const position =
    kind === 'arguments' ? { response_id: response, item_id: item, output_index: output } : positionOf(at)
  const call = kind === 'arguments' && callId !== undefined ? { call_id: callId } : {}
  const fields = JSON.stringify({ type: eventName(DELTAS[kind], naming), ...position, ...call, delta: '' })
  return fields.slice(0, -2)
}

const positionOf = ({ response, item, output, part }: OutputPosition) => ({
  response_id: response,
  item_id: item,
  output_index: output,
  content_index: part,
})

const transcriptUsage = ({ usage, seconds }: Extract<ServerEvent, { type: 'input-transcript-done' }>): JsonObject =>
  usage !== undefined
    ? { usage: writeTranscriptUsage(usage) }
    : seconds === undefined
      ? {}
      : { usage: { type: 'duration', seconds } }
