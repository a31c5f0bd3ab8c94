import type { RawData, WebSocket } from 'ws'
import { type CanonicalError, ERRORS, GatewayError, invalid } from '../../../canonical/error.ts'
import { isObject, type JsonObject, parseObject, stringIn } from '../../../canonical/node.ts'
import { closeSocket, GOING_AWAY, INTERNAL, POLICY_VIOLATION, TOO_BIG } from '../../closing.ts'
import { writeError } from './errors.ts'
import type { Naming } from './wire.ts'

/** The first settings of a session that only transcribes. */
export interface FirstSettings {
  /** The caller's name of the model that transcribes. */
  readonly model: string
  /** Passes the frames that arrived so far to the listeners of the socket. */
  replay(): void
}

export interface FirstSettingsOptions {
  readonly naming: Naming
  readonly newId: (prefix: string) => string
  /** Maximum time until the settings arrive, in milliseconds. */
  readonly timeout: number
  /** Aborted with the reason why the session is no longer wanted. */
  readonly signal: AbortSignal
}

/** Error code for a gateway that stops. */
const SHUTTING_DOWN = 'server_shutdown'

/** Maximum size of the frames that arrive before the settings, in bytes. */
const MAX_WAITING = 4 * 2 ** 20

/**
 * Announces a session that only transcribes, and waits for the settings that name its model. Clients of such sessions
 * name no model in the URL (docs/wire/realtime.md#transcription-sessions). Pauses the socket afterwards.
 *
 * @throws GatewayError if the settings do not arrive, or too much arrives before them.
 */
export async function firstSettings(
  socket: WebSocket,
  { naming, newId, timeout, signal }: FirstSettingsOptions,
): Promise<FirstSettings> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const frames: (readonly [data: RawData, isBinary: boolean])[] = []
  let size = 0
  const receive = (data: RawData, isBinary: boolean): void => {
    const frame = data as Buffer
    frames.push([frame, isBinary])
    size += frame.length
    if (size > MAX_WAITING) reject(TOO_MUCH)
    const model = isBinary ? '' : modelIn(frame)
    if (model === '') return
    socket.pause()
    resolve(model)
  }
  const onAbort = (): void => reject(signal.reason)
  const timer = setTimeout(() => reject(NO_MODEL), timeout)
  signal.addEventListener('abort', onAbort)
  socket.on('message', receive)
  socket.send(JSON.stringify(announcement(naming, newId)))
  try {
    const model = await promise
    return {
      model,
      replay: () => {
        socket.off('message', receive)
        for (const frame of frames) socket.emit('message', ...frame)
      },
    }
  } catch (thrown) {
    socket.off('message', receive)
    throw thrown
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
  }
}

/** Ends a session that could not begin although its caller was told so: sends an `error` event and closes the socket. */
export function refuseAnnounced(socket: WebSocket, error: CanonicalError, newId: (prefix: string) => string): void {
  if (socket.readyState !== socket.OPEN) return
  socket.send(JSON.stringify({ type: 'error', event_id: newId('event'), error: writeError(error) }))
  closeSocket(socket, closeCodeOf(error), error.code ?? '')
}

function closeCodeOf({ kind, code }: CanonicalError): number {
  if (code === SHUTTING_DOWN) return GOING_AWAY
  if (kind === 'too-large') return TOO_BIG
  return ERRORS[kind].status < 500 ? POLICY_VIOLATION : INTERNAL
}

const announcement = (naming: Naming, newId: (prefix: string) => string): JsonObject => ({
  type: naming === 'beta' ? 'transcription_session.created' : 'session.created',
  event_id: newId('event'),
  session: {
    ...(naming === 'beta' ? {} : { type: 'transcription' }),
    object: 'realtime.transcription_session',
    id: newId('sess'),
  },
})

const UPDATES: ReadonlySet<string> = new Set(['session.update', 'transcription_session.update'])

/** Returns the model that transcribes according to a frame, or an empty string if the frame names none. */
function modelIn(frame: Buffer): string {
  // Audio is the most frequent kind of frame, and never names a model.
  if (!frame.includes('session.update')) return ''
  const value = parseObject(frame.toString())
  if (value === undefined || !UPDATES.has(stringIn(value['type']))) return ''
  const session = fieldsOf(value, 'session')
  const nested = fieldsOf(fieldsOf(fieldsOf(session, 'audio'), 'input'), 'transcription')
  return stringIn(nested['model']) || stringIn(fieldsOf(session, 'input_audio_transcription')['model'])
}

function fieldsOf(object: JsonObject, name: string): JsonObject {
  const value = object[name]
  return isObject(value) ? value : {}
}

const TOO_MUCH = new GatewayError({
  kind: 'too-large',
  code: 'session_not_ready',
  message: 'Too much was sent before the settings of the transcription session.',
})

const NO_MODEL = new GatewayError({
  kind: 'timed-out',
  code: 'session_idle',
  message: 'No settings of the transcription session named its model in time.',
})

/** Error for settings that name no model. */
export const missingTranscriptionModel = (): GatewayError =>
  invalid(
    'A transcription session needs a model.',
    'session.audio.input.transcription.model',
    'missing_required_parameter',
  )
