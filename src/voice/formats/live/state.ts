import type { CanonicalError } from '../../../canonical/error.ts'
import { append } from '../../../canonical/lists.ts'
import { defined, type JsonObject } from '../../../canonical/node.ts'
import { totalUsage, type Usage } from '../../../canonical/result.ts'
import type { VoiceSessionSettings } from '../../../canonical/voice-session.ts'
import type { Position, ResponseReason, ResponseStatus, ServerEvent } from '../../../canonical/voice-session-event.ts'
import { Conversation, errorEvent, type IdentifiedItem } from '../../conversation.ts'
import type { ProtocolOptions, Step } from '../../protocol.ts'
import { ACTIVITY_START, contentOf, writeAudio, writeStreamEnd, writeTurns } from './client-writer.ts'
import { Connection, MAX_BUFFERED } from './connection.ts'
import { type LiveDialect, readDialect } from './dialect.ts'
import { OpenResponse } from './open-response.ts'
import { speaks, writeSetup } from './setup.ts'
import { TextBudget } from './text-budget.ts'
import { ToolCalls } from './tool-calls.ts'
import { Turns } from './turns.ts'
import { UserTurn } from './user-turn.ts'

/** State of a session with its operations, shared by the handlers of client events and server messages. */
export class LiveState {
  readonly dialect: LiveDialect
  readonly conversation: Conversation
  readonly user: UserTurn
  readonly calls: ToolCalls
  readonly connection: Connection
  readonly turns = new Turns()
  /** Names of calls that the client itself added, by call id. */
  readonly clientCalls = new Map<string, string>()
  settings: VoiceSessionSettings
  response: OpenResponse | undefined
  /** True if the client marks the start and end of turns, according to the current setup. */
  isManual = false
  /** True if answers are spoken, according to the current setup. */
  isSpoken = true
  /**
   * State of the user's manual turn. The turn ends when a response is requested, because the upstream answers at the
   * end of a turn.
   */
  activity: 'none' | 'open' | 'committed' = 'none'
  /** True if audio was committed under automatic turn detection, so that the upstream answers without a request. */
  isStreamEnded = false
  /** True if the upstream is answering, or will certainly do so, for the running response. */
  isAnswerDue = false
  /** True if further output of the upstream belongs to a cancelled response and must be dropped. */
  isDiscarding = false
  /** Ids of the calls of the cancelled response. */
  refusedCalls: readonly string[] = []
  /** True if the end of a turn is still pending although its response has already ended. */
  isTrailing = false
  /** True if the next interruption is caused by the frames of the running response, not by the user. */
  interruptsItself = false
  /** True if the upstream completes a turn directly after its function calls instead of after their results. */
  completesCalls = false
  private hasAnswered = false
  /**
   * Frames that requested the running response, with the ids of their items, or undefined if the frames cannot be sent
   * again.
   */
  pendingRequest: { readonly frames: readonly string[]; readonly items: ReadonlySet<string | undefined> } | undefined
  /** Last item of the conversation when the upstream issued its latest resumption handle. */
  private coveredItem: Position = null
  private readonly model: string
  private readonly newId: (prefix: string) => string
  private readonly textBudget = new TextBudget()
  private events: ServerEvent[] = []
  /** Frames of a manual turn that started during a response. Sending them immediately would interrupt the response. */
  private deferred: string[] = []
  private deferredSize = 0
  /** Total length of the client's items, in characters. Deleting an item reduces it. */
  private storedSize = 0
  /** Length of each client item, in characters. */
  private readonly sizes = new Map<string, number>()
  /** Usage of the current turn, and of earlier turns that no response could report. */
  private turnUsage: Usage | undefined
  private carriedUsage: Usage | undefined

  constructor({ model, settings, newId, dialect }: ProtocolOptions) {
    this.model = model
    this.newId = newId
    this.dialect = readDialect(dialect, model)
    this.conversation = new Conversation(newId)
    this.user = new UserTurn(this.conversation, this.textBudget, newId)
    this.calls = new ToolCalls(newId)
    this.connection = new Connection(this.dialect.resumption && !this.dialect.transcribes)
    this.settings = {
      ...{ modalities: ['audio'], ...settings },
      input: { turnDetection: { type: 'silence' }, ...settings.input },
    }
    this.adopt()
  }

  /** Returns the setup message for the given settings. */
  setup(settings: VoiceSessionSettings = this.settings): JsonObject {
    return writeSetup(settings, this.model, this.dialect)
  }

  /** Starts a connection with the current settings. */
  start(): void {
    this.adopt()
    this.connection.start(this.setup())
  }

  /** Applies the settings that determine how turns are handled. */
  adopt(): void {
    this.isManual = this.settings.input?.turnDetection === null
    this.isSpoken = speaks(this.settings)
  }

  /** The frame that ends the user's speech for automatic activity detection. */
  get streamEnd(): string {
    return writeStreamEnd(this.dialect, this.settings.input?.turnDetection)
  }

  /** True if queued turns have audio that the model takes only as speech, which triggers an answer. */
  get hasUntakenAudio(): boolean {
    return this.turns.hasAudio && !this.dialect.audioInTurns
  }

  /** True if the setup asks for speech, even if the caller only gets its transcript. */
  get asksForSpeech(): boolean {
    return this.isSpoken || this.dialect.audioOnly
  }

  emit(events: Iterable<ServerEvent>): void {
    append(this.events, events)
  }

  fail(error: CanonicalError, event?: string): void {
    this.events.push(errorEvent(error, event))
  }

  /** Returns true if an item of the given size fits, in addition to stored and unsent items. */
  fits(size: number): boolean {
    return this.storedSize + this.turns.size + this.calls.size + size <= MAX_BUFFERED
  }

  /** Stores the size of an item. */
  storeSize(id: string, size: number): void {
    this.sizes.set(id, size)
    this.storedSize += size
  }

  /** Deletes an item, frees its size, and drops its turn if the turn has not been sent yet. */
  remove(id: string, event: string | undefined): void {
    this.turns.remove(id)
    this.storedSize -= this.sizes.get(id) ?? 0
    this.sizes.delete(id)
    for (const part of this.conversation.get(id)?.content ?? [])
      if (part.type === 'tool-call') this.clientCalls.delete(part.id)
    this.emit(this.conversation.delete(id, event))
  }

  /** Sends turns that the model should not answer yet, unless they would interrupt the model. */
  sendTurns(): void {
    if (this.turns.isEmpty || this.takesRealtimeText || this.hasUntakenAudio) return
    // Frames of a manual turn wait for the end of a response, after which some models refuse turns.
    const mayDefer = this.isManual && this.dialect.lateText !== 'realtime'
    if (this.response !== undefined && !mayDefer) return
    this.sendOrDefer(writeTurns(this.turns.take(), false))
  }

  /**
   * Records an answer of the model. Some models take no turns after their first one, so that a request with turns cannot
   * be sent again.
   */
  recordAnswer(): void {
    if (!this.hasAnswered && this.dialect.lateText === 'realtime') this.pendingRequest = undefined
    this.hasAnswered = true
  }

  /** True if the model accepts text only as `realtimeInput`. */
  get takesRealtimeText(): boolean {
    return this.hasAnswered && this.dialect.lateText === 'realtime'
  }

  sendAudio(audio: Uint8Array): void {
    if (this.isManual && this.activity === 'none') {
      this.sendTurns()
      this.sendOrDefer(ACTIVITY_START)
      this.activity = 'open'
    } else if (!this.isManual) this.sendTurns()
    this.sendOrDefer(writeAudio(audio))
  }

  startResponse(isRequested: boolean, metadata?: JsonObject): OpenResponse {
    const { conversation, textBudget, newId } = this
    const response = new OpenResponse({ requested: isRequested, conversation, textBudget, newId })
    this.response = response
    this.isStreamEnded = false
    this.interruptsItself = false
    this.pendingRequest = undefined
    const modalities = this.isSpoken ? (['audio'] as const) : (['text'] as const)
    const start = { type: 'response-start' as const, response: response.id, modalities }
    this.events.push(metadata === undefined ? start : { ...start, metadata })
    return response
  }

  endResponse(status: ResponseStatus, why: { readonly reason?: ResponseReason; readonly error?: CanonicalError } = {}) {
    const { response } = this
    if (response === undefined) return
    this.response = undefined
    this.emit(response.close(status === 'completed' ? 'completed' : 'incomplete'))
    const usage = this.takeUsage()
    this.events.push(defined({ type: 'response-end', response: response.id, status, ...why, usage }) as ServerEvent)
    for (const frame of this.deferred) this.connection.send(frame)
    this.deferred = []
    this.deferredSize = 0
  }

  /** Records the usage of the turn. Each report is a running total. */
  setUsage(usage: Usage): void {
    this.turnUsage = usage
  }

  /** Carries the usage of a turn without a response over to the next response that ends. */
  carryUsage(): void {
    this.carriedUsage = this.takeUsage()
  }

  /** Records the resumption handle and the last item that it covers. A later connection resumes from there. */
  resumable(handle: string | undefined): void {
    this.connection.resumable(handle)
    if (handle !== undefined) this.coveredItem = this.conversation.last
  }

  /**
   * Recovers from a broken connection. The next connection resumes at the latest handle and receives the later
   * conversation as text. A response that was requested but has not started is requested again. All other running work
   * is lost.
   */
  recover(): void {
    const { response, pendingRequest } = this
    const isWaiting = response?.requested === true && response.outputs === 0 && pendingRequest !== undefined
    const turn = isWaiting ? NO_FRAMES : this.takeDeferredTurn()
    const { activity } = this
    if (isWaiting) this.reopenTurn()
    else this.abandon()
    this.isDiscarding = false
    this.isTrailing = false
    if (!this.takesRealtimeText) {
      const { items: unsent } = this.turns
      const turns = this.itemsAfter(this.coveredItem).filter(
        ({ id }) => !unsent.has(id) && !(isWaiting && pendingRequest.items.has(id)),
      )
      const contents = turns.map(item => contentOf(item, this.dialect)).filter(content => content !== undefined)
      if (contents.length > 0) this.connection.send(writeTurns(contents, false))
    }
    if (isWaiting) for (const frame of pendingRequest.frames) this.connection.send(frame)
    if (turn.length === 0) return
    this.activity = activity
    for (const frame of turn) this.connection.send(frame)
  }

  /**
   * Removes all deferred frames. Returns those of the client's manual turn if the lost connection has not heard its
   * beginning, which the next connection then hears.
   */
  private takeDeferredTurn(): readonly string[] {
    const { deferred } = this
    const start = deferred.lastIndexOf(ACTIVITY_START)
    this.deferred = []
    this.deferredSize = 0
    return start === -1 ? NO_FRAMES : deferred.slice(start)
  }

  /** Begins the client's manual turn again, because the next connection has not heard how it began. */
  private reopenTurn(): void {
    if (this.activity === 'none' || this.deferred.includes(ACTIVITY_START)) return
    this.fail(RESPONSE_LOST)
    if (this.deferred.length === 0) this.activity = 'none'
    else this.deferred.unshift(ACTIVITY_START)
  }

  /**
   * Returns the messages after an item. Calls and results are skipped, because a session cannot use results of calls
   * that it did not make.
   */
  private itemsAfter(id: Position): readonly IdentifiedItem[] {
    const { items } = this.conversation
    const from = id === null ? 0 : items.findIndex(item => item.id === id) + 1
    if (id !== null && from === 0) return []
    return items.slice(from).filter(({ content: [first] }) => first?.type === 'text' || first?.type === 'media')
  }

  /** Fails the running response and turn, because the new connection does not know them. */
  abandon(): void {
    const isLost = this.response !== undefined || this.calls.areOpen || this.activity !== 'none'
    this.endResponse('failed', { error: RESPONSE_LOST })
    this.emit(this.user.finish())
    this.calls.abandon()
    this.activity = 'none'
    this.isStreamEnded = false
    this.isDiscarding = false
    this.isTrailing = false
    if (isLost) this.fail(RESPONSE_LOST)
  }

  /** Removes and returns the collected frames and events, and requests a new connection if one is needed. */
  take(): Step {
    const { end } = this.connection
    const reconnect = end === undefined && this.connection.move(this.isIdle)
    const send = this.connection.take()
    const { events } = this
    this.events = []
    return {
      ...(send.length === 0 ? {} : { send }),
      ...(events.length === 0 ? {} : { events }),
      ...(reconnect ? { reconnect } : {}),
      ...(end === undefined ? {} : { end }),
    }
  }

  get isIdle(): boolean {
    const isQuiet = !this.user.isSpeaking && this.activity === 'none' && !this.isStreamEnded
    return isQuiet && this.response === undefined && !this.calls.areOpen && !this.isDiscarding
  }

  /** Sends a frame. A frame of a manual turn during a response is deferred until the response ends. */
  private sendOrDefer(frame: string): void {
    if (!this.isManual || this.response === undefined) {
      this.connection.send(frame)
      return
    }
    this.deferred.push(frame)
    this.deferredSize += frame.length
    if (this.deferredSize > MAX_BUFFERED) this.connection.overflow()
  }

  private takeUsage(): Usage | undefined {
    const usages = [this.carriedUsage, this.turnUsage].filter(one => one !== undefined)
    this.carriedUsage = undefined
    this.turnUsage = undefined
    return totalUsage(usages)
  }
}

const NO_FRAMES: readonly string[] = []

const RESPONSE_LOST: CanonicalError = {
  kind: 'upstream-failed',
  code: 'connection_lost',
  message: 'The connection to the upstream was lost and reopened. The running response or turn was lost.',
}
