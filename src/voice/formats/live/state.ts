import type { CanonicalError } from '../../../canonical/error.ts'
import { append } from '../../../canonical/lists.ts'
import { defined, type JsonObject } from '../../../canonical/node.ts'
import { totalUsage, type Usage } from '../../../canonical/result.ts'
import type { SessionSettings } from '../../../canonical/session.ts'
import type { Position, ResponseReason, ResponseStatus, ServerEvent } from '../../../canonical/session-event.ts'
import { Conversation, failed, type KnownItem } from '../../conversation.ts'
import type { ProtocolOptions, Step } from '../../protocol.ts'
import { ACTIVITY_START, contentOf, writeAudio, writeTurns } from './client-writer.ts'
import { Connection, MOST_HELD } from './connection.ts'
import { type LiveDialect, readDialect } from './dialect.ts'
import { KeptText } from './kept-text.ts'
import { OpenResponse } from './open-response.ts'
import { speaks, writeSetup } from './setup.ts'
import { ToolCalls } from './tool-calls.ts'
import { Turns } from './turns.ts'
import { UserTurn } from './user-turn.ts'

/** What both directions of a session share, and what they do to it. */
export class LiveState {
  readonly dialect: LiveDialect
  readonly conversation: Conversation
  readonly user: UserTurn
  readonly calls: ToolCalls
  readonly connection: Connection
  readonly turns = new Turns()
  /** Names of calls that the client added, by their ids. */
  readonly historic = new Map<string, string>()
  settings: SessionSettings
  response: OpenResponse | undefined
  /** Of the setup in force: the client marks where a turn begins and ends; answers are spoken. */
  isManual = false
  isSpoken = true
  /** The user's turn where it is manual. It ends when a response is requested: the upstream answers its end. */
  activity: 'none' | 'open' | 'committed' = 'none'
  /** Audio was committed where turns are detected: the upstream answers it unasked. */
  isStreamEnded = false
  /** What the upstream goes on to generate belongs to a response that was cancelled. */
  isDiscarding = false
  /** The end of a turn is still to come whose response has ended. */
  isTrailing = false
  /** A turn with function calls is complete at once, and not when its answer was given. */
  completesCalls = false
  hasAnswered = false
  /** The frames that requested the running response, and their items, where they can be sent again. */
  asked: { readonly frames: readonly string[]; readonly items: ReadonlySet<string | undefined> } | undefined
  /** The last item of the conversation when the upstream gave its latest handle. */
  private known: Position = null
  private readonly model: string
  private readonly newId: (prefix: string) => string
  private readonly keptText = new KeptText()
  private events: ServerEvent[] = []
  /** Audio of a manual turn that began during a response, which it would interrupt. */
  private deferred: string[] = []
  private deferredSize = 0
  /** Characters of the client's items: of all, and of each whose content goes when it is deleted. */
  private kept = 0
  private readonly sizes = new Map<string, number>()
  /** Of the turn so far, and of turns whose responses had ended before. */
  private turnUsage: Usage | undefined
  private carriedUsage: Usage | undefined

  constructor({ model, settings, newId, dialect }: ProtocolOptions) {
    this.model = model
    this.newId = newId
    this.dialect = readDialect(dialect, model)
    this.conversation = new Conversation(newId)
    this.user = new UserTurn(this.conversation, this.keptText, newId)
    this.calls = new ToolCalls(newId)
    this.connection = new Connection(this.dialect.resumption)
    this.settings = {
      ...{ modalities: ['audio'], ...settings },
      input: { turnDetection: { type: 'silence' }, ...settings.input },
    }
    this.adopt()
  }

  /** The setup message the settings make. */
  setup(settings: SessionSettings = this.settings): JsonObject {
    return writeSetup(settings, this.model, this.dialect)
  }

  /** Sets a connection up by the settings. */
  begin(): void {
    this.adopt()
    this.connection.begin(this.setup())
  }

  adopt(): void {
    this.isManual = this.settings.input?.turnDetection === null
    this.isSpoken = speaks(this.settings)
  }

  emit(events: Iterable<ServerEvent>): void {
    append(this.events, events)
  }

  fail(error: CanonicalError, event?: string): void {
    this.events.push(failed(error, event))
  }

  /** Characters of the items kept, with this one. */
  keep({ id, content }: KnownItem): number {
    let size = 0
    for (const part of content) if (part.type !== 'media') size += JSON.stringify(part).length
    // The result of a call waits to be sent, whatever becomes of its item.
    if (content.every(({ type }) => type !== 'tool-result')) this.sizes.set(id, size)
    this.kept += size
    return this.kept
  }

  /** Deletes an item, which counts no more; a turn that was not sent is not sent any more. */
  remove(id: string, event: string | undefined): void {
    this.turns.remove(id)
    this.kept -= this.sizes.get(id) ?? 0
    this.sizes.delete(id)
    for (const part of this.conversation.get(id)?.content ?? [])
      if (part.type === 'tool-call') this.historic.delete(part.id)
    this.emit(this.conversation.delete(id, event))
  }

  /** Sends turns the model is not to answer yet, unless that would interrupt it. */
  sendTurns(): void {
    if (this.turns.isEmpty || this.takesRealtimeText || (this.response !== undefined && !this.isManual)) return
    this.later(writeTurns(this.turns.take(), false))
  }

  /** Text is taken as `realtimeInput` alone. */
  get takesRealtimeText(): boolean {
    return this.hasAnswered && this.dialect.lateText === 'realtime'
  }

  sendAudio(audio: Uint8Array): void {
    if (this.isManual && this.activity === 'none') {
      this.sendTurns()
      this.later(ACTIVITY_START)
      this.activity = 'open'
    } else if (!this.isManual) this.sendTurns()
    this.later(writeAudio(audio))
  }

  startResponse(isRequested: boolean, metadata?: JsonObject): OpenResponse {
    const { conversation, keptText: kept, newId } = this
    const response = new OpenResponse({ requested: isRequested, conversation, kept, newId })
    this.response = response
    this.isStreamEnded = false
    this.asked = undefined
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

  /** A running total within a turn. */
  used(usage: Usage): void {
    this.turnUsage = usage
  }

  /** Keeps the usage of a turn that ended without a response for the next one that ends. */
  carryUsage(): void {
    this.carriedUsage = this.takeUsage()
  }

  /** The upstream's state at this moment is what a later connection begins with. */
  resumable(handle: string | undefined): void {
    this.connection.resumable(handle)
    if (handle !== undefined) this.known = this.conversation.last
  }

  /**
   * The connection broke: the next one begins with the state of the latest handle, and gets the conversation since then
   * as text. A response that was requested by turns and has not begun is requested again; whatever else ran is lost.
   */
  recover(): void {
    const { response, asked } = this
    const isWaiting = response?.requested === true && response.outputs === 0 && asked !== undefined
    if (!isWaiting) this.abandon()
    this.isDiscarding = false
    this.isTrailing = false
    if (!this.takesRealtimeText) {
      const turns = this.since(this.known).filter(
        ({ id }) => !this.turns.has(id) && !(isWaiting && asked.items.has(id)),
      )
      const contents = turns.map(contentOf).filter(content => content !== undefined)
      if (contents.length > 0) this.connection.send(writeTurns(contents, false))
    }
    if (isWaiting) for (const frame of asked.frames) this.connection.send(frame)
  }

  /** Messages after an item; calls and their results mean nothing to a session that did not make them. */
  private since(id: Position): readonly KnownItem[] {
    const { items } = this.conversation
    const from = id === null ? 0 : items.findIndex(item => item.id === id) + 1
    if (id !== null && from === 0) return []
    return items.slice(from).filter(({ content: [first] }) => first?.type === 'text' || first?.type === 'media')
  }

  /** What runs is lost: the session goes on in another connection that does not have it. */
  abandon(): void {
    const isLost = this.response !== undefined || this.calls.areOpen || this.activity !== 'none'
    this.endResponse('failed', { error: LOST })
    this.emit(this.user.finish())
    this.calls.abandon()
    this.activity = 'none'
    this.isStreamEnded = false
    this.isDiscarding = false
    this.isTrailing = false
    if (isLost) this.fail(LOST)
  }

  /** The effects since the last check. */
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

  /** At once, but for a manual turn during a response. */
  private later(frame: string): void {
    if (!this.isManual || this.response === undefined) {
      this.connection.send(frame)
      return
    }
    this.deferred.push(frame)
    this.deferredSize += frame.length
    if (this.deferredSize > MOST_HELD) this.connection.tooMuch()
  }

  private takeUsage(): Usage | undefined {
    const usages = [this.carriedUsage, this.turnUsage].filter(one => one !== undefined)
    this.carriedUsage = undefined
    this.turnUsage = undefined
    return totalUsage(usages)
  }
}

const LOST: CanonicalError = {
  kind: 'upstream-failed',
  code: 'connection_lost',
  message: 'The connection to the upstream was lost and made anew: what it was doing is lost.',
}
