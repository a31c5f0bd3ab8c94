import { GatewayError } from '../../../canonical/error.ts'
import type { Loss } from '../../../canonical/loss.ts'
import { stringIn } from '../../../canonical/node.ts'
import { PCM_24K, type VoiceSessionSettings } from '../../../canonical/voice-session.ts'
import type { ClientEvent, ServerEvent } from '../../../canonical/voice-session-event.ts'
import { NO_STEP, type Protocol, type ProtocolOptions, type Step } from '../../protocol.ts'
import { refusedSession } from '../../refused-session.ts'
import { clientLosses, writeClientEvent } from './client-writer.ts'
import { type RealtimeDialect, readDialect } from './dialect.ts'
import { NOT_AN_EVENT } from './errors.ts'
import { ServerReader } from './server-reader.ts'

/** Upstream protocol of OpenAI's realtime format, for callers whose frames cannot be relayed unchanged. */
export class RealtimeProtocol implements Protocol {
  readonly audio = { input: PCM_24K, output: PCM_24K, variesByResponse: true }
  readonly address: Protocol['address']
  private readonly dialect: RealtimeDialect
  private readonly reader: ServerReader
  private readonly initial: VoiceSessionSettings
  /** The upstream's `session-created`, which is buffered until the initial settings are acknowledged. */
  private created: (ServerEvent & { readonly type: 'session-created' }) | undefined
  private phase: 'new' | 'setting' | 'running' = 'new'

  constructor({ model, settings, dialect }: ProtocolOptions) {
    this.address = addressOf(model, settings.purpose === 'transcription')
    this.dialect = readDialect(dialect)
    this.reader = new ServerReader(this.dialect)
    this.initial = withFormats(settings)
  }

  losses(event: ClientEvent): readonly Loss[] {
    return clientLosses(event, this.dialect)
  }

  opened(): Step {
    return NO_STEP
  }

  client(event: ClientEvent): Step {
    const text = writeClientEvent(event, this.dialect)
    return text === undefined ? NO_STEP : { send: [text] }
  }

  server(frame: string): Step {
    const events = this.reader.read(frame)
    return this.phase === 'running' ? { events } : this.openSession(events)
  }

  closed(): Step {
    return NO_STEP
  }

  /**
   * Opens the session: the upstream creates it, receives the initial settings, and acknowledges them. The caller then
   * receives `session-created` with the current settings.
   */
  private openSession(events: readonly ServerEvent[]): Step {
    const [first] = events
    if (first?.type === 'error')
      return { refused: this.phase === 'new' ? refusedSession(first.error) : new GatewayError(first.error) }
    if (first?.type === 'opaque' && stringIn(first.value['type']) === '') return { refused: NOT_AN_EVENT }
    if (first?.type === 'session-created' && this.phase === 'new') {
      this.created = first
      this.phase = 'setting'
      return this.client({ type: 'session-update', settings: this.initial })
    }
    if (first?.type !== 'session-updated' || this.created === undefined) return NO_STEP
    this.phase = 'running'
    return { events: [{ ...this.created, settings: { ...this.created.settings, ...first.settings } }] }
  }
}

/** Adds the upstream's audio formats to the settings, so that its defaults do not matter. */
function withFormats({ model: _, output, ...settings }: VoiceSessionSettings): VoiceSessionSettings {
  const input = { ...settings.input, format: PCM_24K }
  // A session that only transcribes has no output.
  if (settings.purpose === 'transcription') return { ...settings, input }
  return { ...settings, input, output: { ...output, format: PCM_24K } }
}

/**
 * Returns the address of a session. OpenAI refuses a model in the address of a session that only transcribes
 * (docs/wire/realtime.md#transcription-sessions).
 */
export const addressOf = (model: string, isTranscription: boolean): Protocol['address'] => ({
  path: '/realtime',
  query: isTranscription ? { intent: 'transcription' } : { model },
})
