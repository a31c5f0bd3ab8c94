import type { CanonicalError } from '../../../canonical/error.ts'
import type { Loss, Losses } from '../../../canonical/loss.ts'
import { type ConversationItem, PCM_16K, PCM_24K, type VoiceSessionSettings } from '../../../canonical/voice-session.ts'
import type { ClientEvent } from '../../../canonical/voice-session-event.ts'
import { NO_STEP, type Protocol, type ProtocolOptions, type Step } from '../../protocol.ts'
import { mergeSettings } from '../../settings.ts'
import { applyClientEvent } from './client-events.ts'
import { callText, resultOf, resultText } from './client-writer.ts'
import { pathOf } from './dialect.ts'
import { clientLosses } from './losses.ts'
import { applyServerMessage } from './server-messages.ts'
import { readFrame } from './server-reader.ts'
import { LiveState } from './state.ts'

/**
 * Upstream protocol of Gemini's `BidiGenerateContent` (docs/wire/live.md#setup). The session's settings form the first
 * message, which is sent with the client's first event. To change them later, the session moves to a new connection.
 * Moving also lets a session outlast the upstream's time limit per connection.
 */
export class LiveProtocol implements Protocol {
  readonly audio = { input: PCM_16K, output: PCM_24K }
  readonly countsLate = true
  readonly address: Protocol['address']
  private readonly state: LiveState
  private isOpened = false
  /** True if the previous connection broke and the session has already been recovered. */
  private isRecovered = false

  constructor(options: ProtocolOptions) {
    this.state = new LiveState(options)
    this.address = { path: pathOf(this.state.dialect), query: {} }
  }

  losses(event: ClientEvent): readonly Loss[] {
    const { state } = this
    const losses = clientLosses(event, state.settings, state.dialect)
    if (event.type === 'session-update' && !state.connection.isNew && !state.connection.mayChange)
      lateLosses(event.settings, state, losses)
    if (event.type === 'item-create' && event.after !== undefined && event.after !== state.conversation.last)
      losses.drop(['after'], 'appended-only')
    if (event.type === 'item-create' && event.item.role === 'assistant' && state.takesRealtimeText)
      losses.drop(['item', 'content'], 'no-late-history')
    if (event.type === 'item-create' && !state.dialect.callsInTurns) callLosses(event.item, state, losses)
    if (event.type === 'item-delete' && !state.turns.has(event.item)) losses.drop(['item'], 'no-deletion')
    if (event.type === 'audio-clear' && state.user.pending > 0) losses.drop(['type'], 'audio-is-sent-at-once')
    return losses.list
  }

  opened(): Step {
    const { state } = this
    if (this.isOpened) {
      // The response started on the old connection while this connection was being opened.
      if (!this.isRecovered && !state.isIdle) state.abandon()
      this.isRecovered = false
      state.start()
    } else state.emit([{ type: 'session-created', settings: state.settings }])
    this.isOpened = true
    return state.take()
  }

  client(event: ClientEvent): Step {
    const { state } = this
    if (state.connection.end !== undefined) return NO_STEP
    applyClientEvent(state, event)
    if (state.connection.isNew) state.start()
    return state.take()
  }

  server(frame: string): Step {
    const { state } = this
    if (state.connection.end !== undefined) return NO_STEP
    for (const message of readFrame(frame)) applyServerMessage(state, message)
    return state.take()
  }

  closed(code: number, reason: string): Step {
    const { state } = this
    if (state.connection.end !== undefined) return NO_STEP
    const { isLossy, isMoving } = state.connection
    if (isMoving) return { reconnect: true }
    if (!state.connection.lost(code, reason)) {
      state.endResponse('failed', { error: SESSION_ENDED })
      return state.take()
    }
    this.isRecovered = true
    if (isLossy) state.recover()
    return { ...state.take(), reconnect: true }
  }
}

const SESSION_ENDED: CanonicalError = {
  kind: 'upstream-failed',
  code: 'session_ended',
  message: 'The upstream ended the session.',
}

/** Reports calls and results of earlier sessions that become text, because the model takes none in turns. */
function callLosses({ content: [part] }: ConversationItem, state: LiveState, losses: Losses): void {
  const name = part?.type === 'tool-result' ? state.clientCalls.get(part.id) : undefined
  if (part?.type === 'tool-call') changeToText(callText(part), losses)
  else if (part?.type === 'tool-result' && name !== undefined)
    changeToText(resultText(name, resultOf(part, { id: part.id, name }).response), losses)
}

const changeToText = (text: string, losses: Losses): void =>
  losses.change(['item', 'content', 0], { type: 'text', text }, 'calls-as-text')

/** Reports settings that can no longer be changed at the upstream. */
function lateLosses(settings: VoiceSessionSettings, state: LiveState, losses: Losses): void {
  const before = JSON.stringify(state.setup())
  for (const [field, value] of Object.entries(settings)) {
    if (field === 'model') continue
    const after = JSON.stringify(state.setup(mergeSettings(state.settings, { [field]: value })))
    if (after !== before) losses.drop(['settings', field], 'no-change-after-setup')
  }
}
