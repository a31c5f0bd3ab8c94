import type { Part, ToolResultPart } from '../../../canonical/content.ts'
import type { CanonicalError } from '../../../canonical/error.ts'
import { append } from '../../../canonical/lists.ts'
import type { JsonObject } from '../../../canonical/node.ts'
import { excerpt } from '../../../canonical/text.ts'
import type { ClientEvent } from '../../../canonical/voice-session-event.ts'
import { CONVERSATION_TOO_LARGE, type IdentifiedItem, sizeOf } from '../../conversation.ts'
import { mergeSettings } from '../../settings.ts'
import {
  ACTIVITY_END,
  ACTIVITY_START,
  clientCallResult,
  contentOf,
  isAudio,
  resultOf,
  writeRealtimeAudio,
  writeRealtimeTurns,
  writeToolResponse,
  writeTurns,
} from './client-writer.ts'
import { effectiveSettings } from './losses.ts'
import { OMITTED_AUDIO } from './open-response.ts'
import type { LiveState } from './state.ts'
import { type Content, LIVE } from './wire.ts'

type Of<T extends ClientEvent['type']> = Extract<ClientEvent, { readonly type: T }>
type Handlers = { readonly [T in ClientEvent['type']]: (state: LiveState, event: Of<T>) => void }

/** Applies a client event to the session. */
export function applyClientEvent(state: LiveState, event: ClientEvent): void {
  const handle = HANDLERS[event.type] as (state: LiveState, event: ClientEvent) => void
  handle(state, event)
}

const HANDLERS: Handlers = {
  'session-update': (state, { settings: { model: _, ...change } }) => {
    state.settings = mergeSettings(state.settings, change)
    if (state.connection.isNew) state.adopt()
    else state.connection.change(state.setup())
    state.emit([{ type: 'session-updated', settings: effectiveSettings(state.settings, state.dialect) }])
  },
  'audio-append': (state, { audio }) => {
    const samples = state.user.append(audio)
    if (samples.length > 0) state.sendAudio(samples)
  },
  'audio-commit': (state, { id }) => {
    if (state.user.pending === 0) {
      state.fail(NOTHING_TO_COMMIT, id)
      return
    }
    state.emit(state.user.commit())
    if (!state.isManual) {
      state.connection.send(state.streamEnd)
      state.isStreamEnded = state.response === undefined && !state.dialect.transcribes
    } else if (state.activity === 'open') commitActivity(state)
  },
  'audio-clear': state => {
    state.user.clear()
    state.emit([{ type: 'audio-cleared' }])
  },
  // WebSocket sessions have no output audio buffer.
  'output-clear': () => {},
  'item-create': createItem,
  'item-retrieve': (state, { item, id }) => state.emit(state.conversation.retrieve(item, id)),
  'item-delete': (state, { item, id }) => state.remove(item, id),
  'item-truncate': (state, { item, part, audioEndMs, id }) =>
    state.emit(
      state.conversation.get(item) === undefined
        ? state.conversation.retrieve(item, id)
        : [{ type: 'item-truncated', item, part, audioEndMs }],
    ),
  'response-create': createResponse,
  'response-cancel': (state, { response, id }) => {
    const running = state.response
    if (running === undefined || (response !== undefined && response !== running.id)) {
      state.fail(NOT_RUNNING, id)
      return
    }
    // The rest of the turn is dropped, because the format cannot cancel a response. If the upstream does not answer yet,
    // nothing follows, and its next output belongs to the next response.
    state.isDiscarding = state.isAnswerDue
    state.endResponse('cancelled', { reason: 'client_cancelled' })
  },
  opaque: (state, { format, value }) => {
    if (format === LIVE) state.connection.send(JSON.stringify(value))
  },
}

/** Ends the manual turn of a session that only transcribes. Other turns end when a response is requested. */
function commitActivity(state: LiveState): void {
  if (state.dialect.transcribes) state.connection.send(ACTIVITY_END)
  state.activity = state.dialect.transcribes ? 'none' : 'committed'
}

function createItem(state: LiveState, { item, after, id: event }: Of<'item-create'>): void {
  const result = item.content.find(part => part.type === 'tool-result')
  if (result !== undefined && !state.calls.has(result.id) && !state.clientCalls.has(result.id)) {
    state.fail(unknownCall(result.id), event)
    return
  }
  // Stored items do not repeat media.
  const size = sizeOf({ ...item, content: item.content.map(withoutData) })
  if (!state.fits(size)) {
    if (state.connection.isReady) state.fail(CONVERSATION_TOO_LARGE, event)
    else state.connection.overflow()
    return
  }
  const events = state.conversation.create(item, after, event)
  state.emit(events)
  const [added] = events
  if (added?.type !== 'item-added') return
  const known = added.item as IdentifiedItem
  state.conversation.replace({ ...known, content: known.content.map(withoutData) })
  state.storeSize(known.id, size)
  if (result !== undefined) addResult(state, known, result)
  else {
    for (const part of item.content) if (part.type === 'tool-call') state.clientCalls.set(part.id, part.name)
    const content = contentOf(known, state.dialect)
    if (content !== undefined) state.turns.add(known.id, content)
  }
}

/** Buffers the result of a call until `response-create`, because the model would answer it immediately. */
function addResult(state: LiveState, { id }: IdentifiedItem, part: ToolResultPart): void {
  if (!state.calls.has(part.id)) {
    const name = state.clientCalls.get(part.id)!
    state.turns.add(id, clientCallResult(resultOf(part, { id: part.id, name }), state.dialect))
    return
  }
  state.calls.answer(part)
  const { response } = state
  // The response was requested while some calls were unanswered, so it waits for their results.
  if (response?.requested !== true || response.outputs > 0) return
  const results = state.calls.take()
  if (results.length === 0) return
  state.connection.send(writeToolResponse(results))
  state.isAnswerDue = !state.calls.areOpen
}

function createResponse(state: LiveState, { settings, id }: Of<'response-create'>): void {
  if (state.response !== undefined) {
    // A model that goes on talking while its calls run takes results at any time, and answers them afterwards.
    const results = state.dialect.calls === 'asynchronous' ? state.calls.take() : []
    if (results.length > 0) state.connection.send(writeToolResponse(results))
    else state.fail(RUNNING, id)
    return
  }
  if (settings?.detached === true || settings?.context !== undefined) {
    state.fail(NOT_DETACHED, id)
    return
  }
  const hasAnsweredCancelled = state.calls.takeAnsweredCancelled()
  const { instructions, metadata } = settings ?? {}
  if (instructions) state.turns.add(undefined, { role: 'user', parts: [{ text: instructions }] })
  const { items } = state.turns
  const isOfTurns = !state.calls.areOpen && state.activity !== 'committed' && !state.isStreamEnded
  const hasResults = state.calls.hasResults
  const hasTurns = !state.turns.isEmpty
  const frames = framesToAnswer(state, hasAnsweredCancelled)
  state.startResponse(true, metadata as JsonObject | undefined)
  // The upstream waits if it got some of the results only, and says nothing after a turn without speech.
  state.isAnswerDue = (frames?.length ?? 0) > (hasResults && state.calls.areOpen ? 1 : 0)
  // The upstream answers results at once, and the turns behind them interrupt that answer.
  state.interruptsItself = hasResults && hasTurns
  if (frames !== undefined && isOfTurns) state.pendingRequest = { frames, items }
  for (const frame of frames ?? []) state.connection.send(frame)
  if (frames === undefined) state.endResponse('cancelled', { reason: 'turn_detected' })
}

/**
 * Returns the frames that trigger an answer, or undefined if only results of cancelled calls are new. Without any new
 * input, an empty turn asks the model to go on: models that take text as `realtimeInput` answer it at any time
 * (docs/wire/live.md#client-messages).
 */
function framesToAnswer(state: LiveState, hasAnsweredCancelled: boolean): string[] | undefined {
  const results = state.calls.take()
  const frames = results.length === 0 ? [] : [writeToolResponse(results)]
  const isCommitted = state.activity === 'committed'
  const isAnswered = isCommitted || state.isStreamEnded
  if (state.takesRealtimeText)
    append(
      frames,
      writeRealtimeTurns(state.turns.take(), audio => writeSpeech(state, audio)),
    )
  else if (!state.turns.isEmpty) append(frames, turnFrames(state, !isCommitted))
  if (frames.length === 0 && !isAnswered && !hasAnsweredCancelled) frames.push(writeTurns([], true))
  if (isCommitted) {
    frames.push(ACTIVITY_END)
    state.activity = 'none'
  }
  return frames.length > 0 || isAnswered ? frames : undefined
}

/** Writes the queued turns. Audio is sent as the user's speech to models that take none in turns. */
function turnFrames(state: LiveState, turnComplete: boolean): string[] {
  if (!state.hasUntakenAudio) return [writeTurns(state.turns.take(), turnComplete)]
  const frames: string[] = []
  let silent: Content[] = []
  for (const { role, parts } of state.turns.take()) {
    const others = parts.filter(part => !isAudio(part))
    if (others.length > 0) silent.push({ role, parts: others })
    if (others.length === parts.length) continue
    if (silent.length > 0) frames.push(writeTurns(silent, false))
    silent = []
    for (const part of parts) if (isAudio(part)) append(frames, writeSpeech(state, part['inlineData'] as JsonObject))
  }
  if (silent.length > 0) frames.push(writeTurns(silent, turnComplete))
  return frames
}

/** Writes audio of an item as a turn of the user's speech, or as part of the turn that the client has begun. */
function writeSpeech(state: LiveState, audio: JsonObject): string[] {
  const frame = writeRealtimeAudio(audio)
  if (!state.isManual) return [frame, state.streamEnd]
  return state.activity === 'none' ? [ACTIVITY_START, frame, ACTIVITY_END] : [frame]
}

/** Removes the media data from a part, because stored items do not repeat media. */
function withoutData(part: Part): Part {
  if (part.type !== 'media' || part.source.type !== 'base64') return part
  return { ...part, source: part.kind === 'audio' ? OMITTED_AUDIO : { ...part.source, data: '' } }
}

const unknownCall = (id: string): CanonicalError => ({
  kind: 'invalid-request',
  code: 'invalid_tool_call_id',
  param: 'item.call_id',
  message: `There is no unanswered function call "${excerpt(id)}".`,
})

const NOTHING_TO_COMMIT: CanonicalError = {
  kind: 'invalid-request',
  code: 'input_audio_buffer_commit_empty',
  message: 'The input audio buffer is empty.',
}
const NOT_RUNNING: CanonicalError = {
  kind: 'invalid-request',
  code: 'response_cancel_not_active',
  message: 'No such response is in progress.',
}
const RUNNING: CanonicalError = {
  kind: 'conflict',
  code: 'conversation_already_has_active_response',
  message: 'A response is already in progress.',
}
const NOT_DETACHED: CanonicalError = {
  kind: 'cannot-express',
  code: 'cannot_express',
  param: 'response',
  message: 'The upstream does not support responses outside the conversation.',
}
