import type { Part } from '../../canonical/content.ts'
import { type CanonicalError, GatewayError } from '../../canonical/error.ts'
import type { ConversationItem, ResponseSettings, VoiceSessionSettings } from '../../canonical/voice-session.ts'
import type { ResponseReason, ServerEvent } from '../../canonical/voice-session-event.ts'
import type { RunRequest } from '../upstream.ts'
import type { Gate } from './gate.ts'
import type { Items } from './items.ts'
import { isSilent } from './messages.ts'
import { Response } from './response.ts'
import type { Transcripts } from './transcripts.ts'

export interface ResponsesOptions {
  readonly run: RunRequest
  readonly models: { readonly conversation: string; readonly speech: string }
  readonly newId: (prefix: string) => string
  readonly gate: Gate
  readonly items: Items
  readonly transcripts: Transcripts
  emit(event: ServerEvent): void
}

/** Maximum number of concurrent responses outside the conversation. */
const MAX_DETACHED = 8

/** A response that waits for the end of another one. */
interface NextResponse {
  readonly settings: ResponseSettings
  /** True if the end of a turn started it, false if the client requested it. */
  readonly isAutomatic: boolean
}

/** Running responses of a session: at most one in the conversation, and several outside it. */
export class Responses {
  private readonly options: ResponsesOptions
  private readonly running = new Map<string, Response>()
  /** The running response in the conversation. */
  private current: Response | undefined
  /** The response that starts after the current one. */
  private next: NextResponse | undefined

  constructor(options: ResponsesOptions) {
    this.options = options
  }

  /**
   * Starts a response that a client requested. Returns an error if it cannot be started. A response to the results of
   * calls waits until the response with these calls has been spoken: clients request it as soon as they have the results.
   */
  create(settings: ResponseSettings): CanonicalError | undefined {
    const isDetached = settings.detached === true
    const isWaiting = !isDetached && this.current !== undefined
    if (isWaiting && !this.hasResults(this.current!)) return ALREADY_ACTIVE
    if (isDetached && this.detached >= MAX_DETACHED) return TOO_MANY_RESPONSES
    const fault = settings.context?.map(item => this.faultOf(item)).find(one => one !== undefined)
    if (fault !== undefined) return fault
    if (isWaiting) this.next = { settings, isAutomatic: false }
    else this.start(settings)
    return undefined
  }

  private hasResults({ calls }: Response): boolean {
    return calls.some(id => this.options.items.hasResult(id))
  }

  /** Returns the reason why an item cannot be part of a response's own input, or undefined if it can. */
  private faultOf(item: ConversationItem): CanonicalError | undefined {
    if (item.isReference === true) return this.referred(item) === undefined ? UNKNOWN_ITEM : undefined
    return item.content.some(isUnheard) ? UNHEARD_SPEECH : undefined
  }

  /** Returns the item of the conversation for which a reference stands. */
  private referred({ id = '' }: ConversationItem): ConversationItem | undefined {
    return this.options.items.conversation.get(id)
  }

  /** Responds to a turn, now or after the current response has ended. */
  respondToTurn(settings: VoiceSessionSettings): void {
    if (this.current === undefined) this.start(settings, true)
    else if (this.next?.isAutomatic !== false) this.next = { settings, isAutomatic: true }
  }

  /** Cancels a response, and the one that waits for its end. Returns false if there is none. */
  cancel(id: string | undefined, reason: ResponseReason): boolean {
    const response = id === undefined ? this.current : this.running.get(id)
    const next = response === this.current ? this.next : undefined
    if (response === this.current) this.next = undefined
    response?.cancel(reason)
    // The client waits for the response that it requested.
    if (next?.isAutomatic === false) this.start(next.settings).cancel(reason)
    return response !== undefined
  }

  /** Cancels the current response because the user is speaking. */
  interrupt(): void {
    this.cancel(undefined, 'turn_detected')
  }

  close(): void {
    for (const response of this.running.values()) response.abandon()
    this.running.clear()
    this.current = this.next = undefined
  }

  /** Number of running responses outside the conversation. */
  private get detached(): number {
    return this.running.size - (this.current === undefined ? 0 : 1)
  }

  private start(settings: ResponseSettings, isAutomatic = false): Response {
    const { run, models, newId, gate, emit, items, transcripts } = this.options
    const { detached, context } = settings
    const response = new Response({
      ...{ run, models, newId, gate, emit, settings, id: newId('resp') },
      conversation: {
        items: () => (context === undefined ? this.conversationItems(isAutomatic) : this.contextItems(context)),
        insert: (item, playback) => (detached === true ? undefined : items.insert(item, playback)),
        replace: item => items.replace(item),
        hasCall: id => items.hasCall(id),
        usage: () => transcripts.takeUsage(),
      },
      ended: () => this.remove(response),
    })
    this.running.set(response.id, response)
    if (detached !== true) this.current = response
    response.start()
    return response
  }

  private remove(response: Response): void {
    this.running.delete(response.id)
    if (this.current !== response) return
    this.current = undefined
    if (this.next !== undefined) queueMicrotask(() => this.startNext())
  }

  private startNext(): void {
    const { next } = this
    if (next === undefined || this.current !== undefined) return
    this.next = undefined
    this.start(next.settings, next.isAutomatic)
  }

  /** Returns the items that a response has in place of the conversation, with the transcripts of those in both. */
  private async contextItems(context: readonly ConversationItem[]): Promise<readonly ConversationItem[]> {
    await this.options.transcripts.settled(context.flatMap(item => this.referred(item) ?? []))
    return context.flatMap(item => (item.isReference === true ? (this.referred(item) ?? []) : item))
  }

  /**
   * Returns the conversation to answer, including its transcripts, or undefined if the response is automatic and the
   * turn has no words.
   *
   * @throws GatewayError if the last item could not be transcribed.
   */
  private async conversationItems(isAutomatic: boolean): Promise<readonly ConversationItem[] | undefined> {
    const { conversation } = this.options.items
    const { transcripts } = this.options
    await transcripts.settled(conversation.items)
    const items = conversation.items.filter(({ role, status }) => role !== 'assistant' || status !== 'in_progress')
    const last = items.at(-1)
    const failure = last === undefined ? undefined : transcripts.failure(last)
    if (failure !== undefined) throw new GatewayError(failure)
    return isAutomatic && last !== undefined && isSilent(last) ? undefined : items
  }
}

/** Returns true for speech that nobody transcribes, because its item is not part of the conversation. */
const isUnheard = (part: Part): boolean =>
  part.type === 'media' &&
  part.kind === 'audio' &&
  part.transcript === undefined &&
  part.source.type === 'base64' &&
  part.source.data !== ''

const UNKNOWN_ITEM: CanonicalError = {
  kind: 'invalid-request',
  code: 'invalid_value',
  param: 'response.input',
  message: 'An item of the input refers to an item that does not exist.',
}

const UNHEARD_SPEECH: CanonicalError = {
  kind: 'cannot-express',
  code: 'cannot_express',
  param: 'response.input',
  message: 'The input has speech without a transcript: create an item with it, and refer to that item.',
}

const ALREADY_ACTIVE: CanonicalError = {
  kind: 'invalid-request',
  code: 'conversation_already_has_active_response',
  message: 'The conversation has an active response: wait until it is done, or cancel it.',
}

const TOO_MANY_RESPONSES: CanonicalError = {
  kind: 'rate-limited',
  code: 'rate_limit_exceeded',
  message: 'Too many responses outside the conversation are running.',
}
