import type { CanonicalError } from '../../../canonical/error.ts'
import type { ResponseReason, ResponseStatus, ServerEvent } from '../../../canonical/voice-session-event.ts'
import { writeToolResponse } from './client-writer.ts'
import type { OpenResponse } from './open-response.ts'
import type { LiveState } from './state.ts'
import type { FunctionCall, LiveMessage } from './wire.ts'

type Handlers = {
  readonly [T in LiveMessage['type']]: (state: LiveState, message: Extract<LiveMessage, { readonly type: T }>) => void
}

/** Applies an upstream's message to the session. */
export function applyServerMessage(state: LiveState, message: LiveMessage): void {
  const handle = HANDLERS[message.type] as (state: LiveState, message: LiveMessage) => void
  handle(state, message)
}

const HANDLERS: Handlers = {
  'setup-complete': (state, { named }) => {
    const { calls, completesCallsAtCloud } = state.dialect
    state.completesCalls = calls === 'asynchronous' || (named && completesCallsAtCloud)
    state.connection.ready()
  },
  'input-transcript': (state, { text, finished }) => {
    if (!state.settings.input?.transcription) return
    if (text !== '') state.emit(state.user.transcript(text, state.isManual))
    if (finished) state.emit(state.user.finish())
  },
  'output-transcript': (state, { text }) =>
    output(state, response => (state.isSpoken ? response.transcript(text) : response.text(text))),
  text: (state, { text }) => {
    // A speaking model does not say the text beside its speech, which is mostly reasoning. The transcript has its words.
    if (!state.asksForSpeech) output(state, response => response.text(text))
  },
  audio: (state, { audio }) => {
    // If the caller requested text but the model only speaks, the transcript becomes the text and the audio is dropped.
    if (state.isSpoken) output(state, response => response.audio(audio))
  },
  interrupted: handleInterruption,
  'turn-complete': (state, { reason }) => completeTurn(state, reason),
  calls: (state, { calls }) => call(state, calls),
  'calls-cancelled': (state, { ids }) => {
    const { response, calls } = state
    // The upstream has given up the turn of the cancelled response for a later one.
    if (ids.some(id => state.refusedCalls.includes(id))) state.isDiscarding = false
    const isWaiting = calls.areOpen && response?.requested === true && response.outputs === 0
    calls.cancel(ids)
    if (isWaiting && !calls.areOpen) state.endResponse('cancelled', { reason: 'turn_detected' })
  },
  usage: (state, { usage }) => state.setUsage(usage),
  activity: (state, { speaking }) => {
    if (state.isManual) return
    if (speaking) state.emit(state.user.started())
    else if (state.user.isSpeaking) state.emit(state.user.commit())
  },
  resumption: (state, { handle }) => state.resumable(handle),
  'go-away': (state, { seconds }) => {
    const error = state.connection.leaving(seconds)
    if (error !== undefined) state.fail(error)
  },
  error: (state, { error }) => state.fail(error),
}

function output(state: LiveState, grow: (response: OpenResponse) => Iterable<ServerEvent>): void {
  const response = current(state)
  if (response !== undefined) state.emit(grow(response))
}

/** Returns the response to which the model's output belongs, or undefined if that response was cancelled. */
function current(state: LiveState): OpenResponse | undefined {
  state.recordAnswer()
  state.connection.answered()
  if (state.isDiscarding) return undefined
  const { user, response } = state
  const isOfSpeech = user.isSpeaking || (response === undefined && !state.calls.areOpen)
  if (!state.isManual && isOfSpeech && user.isUnheard) state.emit(user.commit())
  user.answered()
  state.isAnswerDue = true
  return response ?? state.startResponse(false)
}

/** Handles an interruption: the user spoke, so the model stopped. */
function handleInterruption(state: LiveState): void {
  const { response } = state
  // An answer that was interrupted before its content is an answer, too.
  state.recordAnswer()
  if (state.isDiscarding) {
    state.isDiscarding = false
    state.isTrailing = true
    return
  }
  // The interruption refers to the previous turn, whose response has already ended, or to the answer to results alone.
  if (response !== undefined && (state.isTrailing || state.interruptsItself) && response.outputs === 0) {
    state.isTrailing = true
    state.interruptsItself = false
    return
  }
  state.emit(state.user.finish())
  if (!state.isManual) state.emit(state.user.started())
  if (response === undefined) return
  state.isTrailing = true
  state.endResponse('cancelled', { reason: 'turn_detected' })
}

function completeTurn(state: LiveState, word: string): void {
  const { response, isDiscarding, isTrailing } = state
  // An empty turn is an answer, too.
  state.recordAnswer()
  state.connection.answered()
  state.user.answered()
  state.emit(state.user.finish())
  state.isDiscarding = false
  state.isTrailing = false
  state.interruptsItself = false
  if (response === undefined || isDiscarding || (isTrailing && response.outputs === 0)) {
    state.carryUsage()
    return
  }
  const { status, ...why } = endOf(word)
  state.endResponse(status, why)
}

interface End {
  readonly status: ResponseStatus
  readonly reason?: ResponseReason
  readonly error?: CanonicalError
}

/** Returns the end of a response for the upstream's `turnCompleteReason`. Unlisted reasons are refusals. */
const endOf = (word: string): End => (Object.hasOwn(ENDS_BY_REASON, word) ? ENDS_BY_REASON[word]! : REFUSAL_END)

const ENDS_BY_REASON: { readonly [word: string]: End } = {
  '': { status: 'completed' },
  TURN_COMPLETE_REASON_UNSPECIFIED: { status: 'completed' },
  NEED_MORE_INPUT: { status: 'completed' },
  MAX_TOKENS: { status: 'incomplete', reason: 'max_output_tokens' },
  MALFORMED_FUNCTION_CALL: {
    status: 'failed',
    error: { kind: 'upstream-failed', code: 'malformed_function_call', message: 'The model made an invalid call.' },
  },
}
const REFUSAL_END: End = { status: 'incomplete', reason: 'content_filter' }

/** Handles function calls, which end the response. The model continues after they are answered. */
function call(state: LiveState, calls: readonly FunctionCall[]): void {
  const response = current(state)
  if (response === undefined) {
    refuse(state, calls)
    return
  }
  for (const one of calls) {
    const id = state.calls.add(one)
    if (id === undefined) state.fail(TOO_MANY_CALLS)
    else state.emit(response.call(id, one.name, one.arguments))
  }
  state.emit(state.user.finish())
  state.isTrailing = state.completesCalls
  state.endResponse('completed')
}

/** Answers the calls of a cancelled response, because the upstream would otherwise wait forever. */
function refuse(state: LiveState, calls: readonly FunctionCall[]): void {
  state.refusedCalls = calls.flatMap(({ id }) => id ?? [])
  const response = { error: 'The call was cancelled.' }
  const results = calls.map(({ id, name }) => ({ ...(id === undefined ? {} : { id }), name, response }))
  state.connection.send(writeToolResponse(results))
}

const TOO_MANY_CALLS: CanonicalError = {
  kind: 'upstream-failed',
  code: 'too_many_calls',
  message: 'The upstream made too many function calls at once.',
}
