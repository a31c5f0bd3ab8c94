import type { IncomingMessage } from 'node:http'
import { type Caller, checkFormat } from '../../accounts/index.ts'
import { BEARER, KEY_HEADERS, SUBPROTOCOL, unauthenticated } from '../../accounts/key-ring.ts'
import { forbidden, type GatewayError, invalid, rateLimited } from '../../canonical/error.ts'
import { isObject, type JsonObject } from '../../canonical/node.ts'
import { readJson } from '../../ingress/transport/body.ts'
import { headerValue, passedTrace } from '../../upstreams/channel/index.ts'
import { forbiddenModel, type Target } from '../../upstreams/router.ts'
import { writeSession } from '../../voice/formats/realtime/client-writer.ts'
import { readDialect } from '../../voice/formats/realtime/dialect.ts'
import {
  type FirstSettings,
  firstSettings,
  missingTranscriptionModel,
  refuseAnnounced,
} from '../../voice/formats/realtime/first-settings.ts'
import { readSettings } from '../../voice/formats/realtime/settings-reader.ts'
import { type Naming, REALTIME } from '../../voice/formats/realtime/wire.ts'
import type { RunRequest } from '../../voice/upstream.ts'
import type { Call } from '../call.ts'
import { toFailure } from '../failures.ts'
import type { RequestTrace } from '../metrics/traces.ts'
import { onLossOf } from '../read-request.ts'
import type { Services } from '../services.ts'
import { cascadeRequest, type RequestSteps } from './cascade-request.ts'
import { newId, type OpenedVoiceSession, openVoiceSession, targetsOf } from './open-voice-session.ts'
import { createSecret, isClientSecret, boundBy as secretSessionOf } from './secrets.ts'
import { checkVoiceSession } from './voice-session-models.ts'
import { VoiceSessionRecord } from './voice-session-record.ts'

export type { VoiceSession } from '../../voice/voice-session.ts'
export type { OpenedVoiceSession } from './open-voice-session.ts'

/** A request to upgrade a connection to a voice session. */
export interface VoiceSessionCall {
  readonly id: string
  readonly path: string
  readonly message: IncomingMessage
  /** Query without credentials. */
  readonly query: { readonly [name: string]: string }
  /** Value of the query parameter `?key=`. */
  readonly queryKey?: string
  /** Aborted when the caller disconnects. */
  readonly signal: AbortSignal
  /** True if the caller was already told that its session began. */
  readonly isAnnounced?: boolean
}

/** The WebSocket of a session that begins before its upstream is known. */
type AnnouncedSocket = Parameters<typeof firstSettings>[0]

/** The caller, model and settings of a voice session. */
interface IdentifiedCall {
  readonly caller: Caller
  readonly model: string
  readonly session?: JsonObject
  /** Client secret that opened the session. */
  readonly secret?: string
}

/** Maximum size of a request for a client secret, in bytes. */
const MAX_SECRET_REQUEST_SIZE = 2 ** 20

/** Opens voice sessions: checks keys, client secrets and limits, and chooses targets. */
export class Realtime {
  private readonly services: Services
  private readonly steps: RequestSteps
  /** Number of sessions that are open or being opened. */
  private sessionCount = 0

  /** @param steps steps of the requests that cascades send. */
  constructor(services: Services, steps: RequestSteps) {
    this.services = services
    this.steps = steps
  }

  /**
   * Opens the upstream side of a voice session.
   *
   * @throws GatewayError `unauthenticated`, `invalid-request` if no model is named, `not-found`, `forbidden`,
   * `rate-limited`, or the most useful of the upstreams' failures.
   */
  async open(call: VoiceSessionCall): Promise<OpenedVoiceSession> {
    const { secret, caller, model, session } = await this.identify(call)
    const { access, recorder, traces, channels, config, store } = this.services
    const reservation = access.reservation(caller)
    const release = await this.takeSlots(caller)
    const record = new VoiceSessionRecord(
      {
        ...{ id: call.id, clientId: clientIdOf(call.message), path: call.path, format: REALTIME, caller, model },
        address: recorder.address(call.message, 101),
      },
      recorder,
      {
        forNextResponse: () => access.reservation(this.permitted(caller, model)),
        forSpentUsage: () => access.reservation(this.current(caller)),
      },
      () => {
        release()
        reservation.leave()
      },
    )
    const { headers } = call.message
    record.trace = traces.begin({ method: 'GET', path: call.path, format: REALTIME, headers })
    try {
      checkFormat(caller.permissions, REALTIME)
      await reservation.enter()
      const targets = targetsOf({ id: call.id, caller, model }, this.destinationsFor(caller))
      if (secret !== undefined) await secretSessionOf(store.shared, secret, 'takeNote')
      const onLoss = onLossOf(call.message, caller)
      return await openVoiceSession(targets, {
        ...{ id: call.id, caller, model, onLoss, session, record, isAnnounced: call.isAnnounced === true },
        isTranscription: isTranscription(call) || session?.['type'] === 'transcription',
        ...{ channels, config, log: recorder.log, signal: call.signal },
        naming: namingOf(call),
        traceHeaders: passedTrace(headers),
        run: this.run(caller, call.message, record.trace),
      })
    } catch (thrown) {
      record.recordRefusal(toFailure(thrown).error)
      throw thrown
    }
  }

  /** Returns true if the model of a session that only transcribes follows in its settings. */
  awaitsModel(call: VoiceSessionCall): boolean {
    if (!isTranscription(call) || (call.query['model'] ?? '') !== '') return false
    const credential = credentialOf(call.message)
    return credential === undefined || !isClientSecret(credential.value)
  }

  /**
   * Admits a session whose model is not known yet. Resolves to the function that releases it before it is opened.
   *
   * @throws GatewayError `unauthenticated`, `forbidden`, `rate-limited`.
   */
  async admitWaiting(call: VoiceSessionCall): Promise<() => void> {
    const caller = await this.callerOf(call)
    checkFormat(caller.permissions, REALTIME)
    const release = await this.takeSlots(caller)
    let isReleased = false
    return () => {
      if (!isReleased) release()
      isReleased = true
    }
  }

  /**
   * Waits until the settings of a session that only transcribes name its model.
   *
   * @throws GatewayError if they do not arrive.
   */
  firstSettings(call: VoiceSessionCall, socket: AnnouncedSocket): Promise<FirstSettings> {
    const timeout = Math.min(MAX_SETTINGS_TIME, this.services.config.realtime.idle)
    return firstSettings(socket, { naming: namingOf(call), newId, timeout, signal: call.signal })
  }

  /** Ends a session that could not be opened after its settings had been awaited. */
  refuse(socket: AnnouncedSocket, thrown: unknown): void {
    refuseAnnounced(socket, toFailure(thrown).error, newId)
  }

  /** Answers `POST /v1/realtime/client_secrets` in OpenAI's format. Never rejects. */
  async answerSecret(call: Pick<Call, 'id' | 'format' | 'message' | 'queryKey' | 'reply'>): Promise<void> {
    const { services } = this
    const { access, bodiesInMemory, errors } = services
    try {
      const caller = await services.callerOf(call, REALTIME)
      await access.reservation(caller).enter(false)
      const body = await readJson(call.message, MAX_SECRET_REQUEST_SIZE, () => bodiesInMemory.open(caller.id))
      call.reply.whole(200, {}, JSON.stringify(await this.secretFor(caller, body)))
    } catch (thrown) {
      const { status, headers, text } = errors.of(
        call.format,
        await services.delayWrongKey(thrown, call.message),
        call.id,
      )
      if (!call.reply.gone) call.reply.whole(status, headers, text)
    }
  }

  /**
   * Creates a client secret for one session.
   *
   * @throws GatewayError `invalid-request`, `not-found`, `forbidden`, `rate-limited`.
   */
  private async secretFor(caller: Caller, body: JsonObject): Promise<JsonObject> {
    const session = body['session'] ?? {}
    if (!isObject(session)) throw invalidValue('session', 'expected an object')
    const settings = readSettings(session, 'session')
    const transcribes = settings.purpose === 'transcription'
    const model = settings.model ?? (transcribes ? settings.input?.transcription?.model : undefined)
    if (model === undefined && transcribes) throw missingTranscriptionModel()
    // Clients of xAI send no session and name the model in its address; then the strictest check applies.
    if (model === undefined && body['session'] != null) throw missingModel('session.model')
    const targets = model === undefined ? [] : targetsOf({ id: '', caller, model }, this.destinationsFor(caller))
    checkVoiceSession(session, caller.permissions, model === undefined || targets.some(isNative))
    const expiresAt = Date.now() + 1000 * secondsOf(body['expires_after'])
    const secretSession = { callerId: caller.id, session, ...(model === undefined ? {} : { model }) }
    const value = await createSecret(this.services.store.shared, secretSession, expiresAt)
    const object = transcribes ? 'realtime.transcription_session' : 'realtime.session'
    const shownSession = { ...writeSession(settings, GA), object, id: newId('sess') }
    return { value, expires_at: Math.floor(expiresAt / 1000), session: shownSession }
  }

  private destinationsFor(caller: Caller) {
    const { channels, catalogue, recorder, config } = this.services
    return { channels, catalogue, config, prices: recorder.pricesFor(caller) }
  }

  private async identify(call: VoiceSessionCall): Promise<IdentifiedCall> {
    const model = call.query['model'] ?? call.query['deployment']
    const shownSession = credentialOf(call.message)
    if (shownSession !== undefined && isClientSecret(shownSession.value)) {
      const secretSession = await secretSessionOf(this.services.store.shared, shownSession.value, 'note')
      const named = secretSession.model ?? model
      if (named === undefined || named === '') throw missingModel('model')
      if (model !== undefined && model !== named) throw otherModel(named)
      const { session } = secretSession
      return {
        ...{ model: named, ...(Object.keys(session).length === 0 ? {} : { session }) },
        caller: await this.services.access.ownerOf(secretSession.callerId),
        secret: shownSession.value,
      }
    }
    const caller = await this.callerOf(call)
    if (model === undefined || model === '') throw missingModel('model')
    return { caller, model }
  }

  /**
   * Finds the caller by its key. Throws or rejects with GatewayError `unauthenticated`, also for a page that shows a key.
   * Only browsers send an origin; server programs with the native WebSocket cannot set headers either.
   */
  private callerOf(call: VoiceSessionCall): Caller | Promise<Caller> {
    const { headers } = call.message
    const isShown = headers.origin !== undefined && credentialOf(call.message)?.isSubprotocol === true
    if (isShown && !this.services.config.realtime.browserKeys) throw NO_BROWSER_KEYS
    return this.services.callerOf(call)
  }

  private run(caller: Caller, message: IncomingMessage, sessionTrace: RequestTrace | undefined): RunRequest {
    return (request, signal) => {
      const current = this.current(caller)
      const reservation = this.services.access.reservation(current)
      return cascadeRequest(
        { caller: current, message, request, signal, sessionTrace, reservation },
        this.services,
        this.steps,
      )
    }
  }

  /**
   * Returns a session's caller with the key's current settings.
   *
   * @throws GatewayError if the key was revoked, or may no longer use the format or the model.
   */
  private permitted(caller: Caller, model: string): Caller {
    const current = this.services.access.renewed(caller)
    checkFormat(current.permissions, REALTIME)
    if (!current.permissions.allowsModel(model)) throw forbiddenModel(model)
    return current
  }

  /** Returns a session's caller with the key's current settings, or with the last known ones if it was revoked. */
  private current(caller: Caller): Caller {
    try {
      return this.services.access.renewed(caller)
    } catch {
      return caller
    }
  }

  /**
   * Takes two slots for a session: one of its key, counted across all processes, and one of this process. Resolves to
   * the function that releases both.
   *
   * @throws GatewayError `rate-limited` if no slot is free.
   */
  private async takeSlots({ id }: Caller): Promise<() => void> {
    const { limits, config } = this.services
    const { key, all } = config.realtime.sessions
    if (this.sessionCount >= all) throw TOO_MANY
    this.sessionCount++
    const releaseKeySlot = await limits.takeSlot('sessions', id, key).catch(() => undefined)
    const release = (): void => {
      this.sessionCount--
      releaseKeySlot?.()
    }
    if (releaseKeySlot !== undefined) return release
    release()
    throw TOO_MANY
  }
}

const GA = readDialect({})

/** Returns true if the caller's frames reach the target's channel with the models that they name. */
const isNative = ({ native, emulated }: Target): boolean => native && !emulated

/** Maximum time until the settings of a session name its model, in milliseconds. */
const MAX_SETTINGS_TIME = 30_000

/** Returns true if the URL asks for a session that only transcribes. */
const isTranscription = ({ query }: VoiceSessionCall): boolean => query['intent'] === 'transcription'

/**
 * Returns the credential that may be a client secret: a bearer token or, from browsers, a WebSocket subprotocol.
 */
function credentialOf({
  headers,
}: IncomingMessage): { readonly value: string; readonly isSubprotocol: boolean } | undefined {
  const bearer = BEARER.exec(headers.authorization ?? '')?.[1]
  if (bearer !== undefined) return { value: bearer, isSubprotocol: false }
  if (KEY_HEADERS.some(name => headers[name] !== undefined)) return undefined
  const value = SUBPROTOCOL.exec(headerValue(headers['sec-websocket-protocol']))?.[1]
  return value === undefined ? undefined : { value, isSubprotocol: true }
}

const namingOf = ({ message: { headers }, query }: Pick<VoiceSessionCall, 'message' | 'query'>): Naming =>
  /(?:^|,)\s*realtime=v1\b/.test(headerValue(headers['openai-beta'])) ||
  /(?:^|,)\s*openai-beta\.realtime-v1\b/.test(headerValue(headers['sec-websocket-protocol'])) ||
  AZURE_PREVIEW.test(query['api-version'] ?? '')
    ? 'beta'
    : 'ga'

/** Matches the versions of Azure's API in which sessions speak the beta (docs/wire/realtime.md#versions). */
const AZURE_PREVIEW = /^\d{4}-\d{2}-\d{2}-preview$/

const clientIdOf = ({ headers }: IncomingMessage): string | undefined =>
  headerValue(headers['x-request-id']).slice(0, 200) || undefined

/** Returns the lifetime of a client secret in seconds, checked against OpenAI's limits. */
function secondsOf(value: JsonObject[string] | undefined): number {
  const seconds = isObject(value) ? (value['seconds'] ?? 600) : 600
  if (typeof seconds === 'number' && seconds >= 10 && seconds <= 7200) return seconds
  throw invalidValue('expires_after.seconds', 'expected a number from 10 to 7200')
}

const invalidValue = (param: string, expected: string): GatewayError =>
  invalid(`Invalid '${param}': ${expected}.`, param, 'invalid_value')

const missingModel = (param: string): GatewayError =>
  invalid('A realtime session needs a model.', param, 'missing_required_parameter')

const otherModel = (model: string): GatewayError =>
  forbidden(`This client secret is for the model "${model}".`, 'model', 'model_not_allowed')

const NO_BROWSER_KEYS = unauthenticated(
  'API keys are not accepted as a subprotocol here: use a client secret.',
  'invalid_api_key',
)

const TOO_MANY = rateLimited('Too many realtime sessions are open.', 5, 'rate_limit_exceeded')
