import { conflict, type GatewayError } from '../../canonical/error.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import type { UpstreamTask } from '../../canonical/task.ts'
import { WRITERS } from '../../egress/index.ts'
import type { StoredTask, Tasks } from '../../store/tasks.ts'
import { freshId } from '../../store/usage/request-id.ts'
import type { Target } from '../../upstreams/router.ts'
import { storable } from './public-task.ts'
import { becomesUnknown } from './rejected.ts'
import { onlyOrigin } from './remix.ts'

export interface SubmissionOptions {
  readonly store: Tasks
  readonly owner: string
  /** As the caller named its model, or as the task it remixes has it. */
  readonly request: CanonicalRequest
  readonly idempotencyKey?: string
  /** Lets the next submit of the key begin. */
  readonly release?: () => void
  /** The task it remixes. */
  readonly origin?: StoredTask
  /** The process that submits. */
  readonly worker: string
  readonly now: number
  /** Milliseconds for which the task is stored. */
  readonly lifetime: number
  /** Where callers reach the gateway, without a slash at the end. */
  readonly base: string
}

/** Milliseconds between attempts to store what an upstream has accepted, and how many there are. */
const RETRY = 250
const ATTEMPTS = 8

/**
 * One submit on its way: stored before it is sent, completed before the caller is answered. Once an upstream may have
 * accepted it, it is sent to no other.
 */
export class Submission {
  readonly id = `video_${freshId()}`
  readonly base: string
  readonly release: (() => void) | undefined
  /** Whether an upstream may have accepted it without having answered. */
  isUnknown = false
  private stored: StoredTask | undefined
  private isAccepted = false
  private readonly options: SubmissionOptions

  constructor(options: SubmissionOptions) {
    this.options = options
    this.base = options.base
    this.release = options.release
  }

  /** The request to send: of a remix, with the model and the upstream's id of its original. */
  get request(): CanonicalRequest {
    return this.options.request
  }

  /** Whether no other upstream may be tried. */
  get isSpent(): boolean {
    return this.isUnknown || this.isAccepted
  }

  /** Those of the targets that can do it. Throws GatewayError `invalid-request` for a remix without the upstream it needs. */
  among(targets: readonly Target[]): readonly Target[] {
    const { origin } = this.options
    return origin === undefined ? targets : onlyOrigin(targets, origin)
  }

  /** The request with the name under which the upstream finds the task again, where its format has one. */
  referenced(request: CanonicalRequest, { format }: Target): CanonicalRequest {
    if (WRITERS[format.format]?.tasks?.find === undefined) return request
    const reference = request.output.video?.reference ?? this.id
    return { ...request, output: { ...request.output, video: { ...request.output.video, reference } } }
  }

  /**
   * Stores the task, or where it goes now.
   *
   * @throws GatewayError `conflict` where another submit of the same idempotency key was stored meanwhile, and what the
   * store throws.
   */
  async begins({ channel, format, upstreamModel }: Target, request: CanonicalRequest): Promise<void> {
    const { store, owner } = this.options
    const { reference } = request.output.video ?? {}
    const place = { channel: channel.name, format: format.format, upstreamModel, ...(reference && { reference }) }
    if (this.stored !== undefined) {
      await store.move(owner, this.id, place)
      this.stored = { ...this.stored, ...place }
      return
    }
    const task = this.task(place)
    if (!(await store.begin(task))) throw REPEATED
    this.stored = task
  }

  /** Whether the failure of a submit leaves open what became of it: nothing else is tried then. */
  failed(failure: GatewayError): boolean {
    this.isUnknown ||= this.isAccepted || becomesUnknown(failure)
    return this.isUnknown
  }

  /** Stores what the upstream answered. Rejects where the store does not take it, however often it is tried. */
  async accepted(result: CanonicalResult, target: Target): Promise<StoredTask> {
    this.isAccepted = true
    const { store, owner, request } = this.options
    const state = result.task!.state
    const news = {
      state,
      result: storable(result, target, { id: this.id, model: request.model }),
      upstreamId: result.id!,
    }
    for (let attempt = 1; ; attempt++) {
      try {
        await store.advance(owner, this.id, news)
        break
      } catch (thrown) {
        if (attempt === ATTEMPTS) {
          this.isUnknown = true
          throw thrown
        }
        await new Promise(resolve => setTimeout(resolve, RETRY * attempt))
      }
    }
    return { ...this.stored!, ...news }
  }

  /** Nothing more is tried: a task that no upstream has is forgotten. */
  async ends(): Promise<StoredTask | undefined> {
    const { store, owner } = this.options
    if (this.stored === undefined) return undefined
    if (this.isUnknown) return this.stored
    if (this.isAccepted) return undefined
    await store.drop(owner, this.id).catch(() => {})
    return undefined
  }

  private task(place: Pick<StoredTask, 'channel' | 'format' | 'upstreamModel' | 'reference'>): StoredTask {
    const { owner, request, idempotencyKey, origin, worker, now, lifetime } = this.options
    const { model, output } = request
    const prompt = promptOf(request)
    return {
      ...{ owner, id: this.id, model, ...place, state: 'submitting', from: madeFrom(request), output },
      ...(prompt === undefined ? {} : { prompt }),
      ...{ result: { candidates: [] }, worker, misses: 0 },
      ...{ createdAt: now, polledAt: now, expiresAt: now + lifetime },
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
      ...(origin === undefined ? {} : { remixOf: origin.id }),
    }
  }
}

const REPEATED = conflict('A request with this idempotency key is being handled.', undefined, 'idempotency_key_in_use')

export const promptOf = ({ messages }: CanonicalRequest): string | undefined =>
  messages.flatMap(({ content }) => content).find(part => part.type === 'text')?.text

/** What the video of a request is made from besides its prompt. */
export function madeFrom({ messages, output }: CanonicalRequest): UpstreamTask['from'] {
  if (output.video?.remixOf !== undefined) return 'video'
  const media = messages.flatMap(({ content }) => content.filter(part => part.type === 'media'))
  if (media.some(({ kind }) => kind === 'video')) return 'video'
  return media.length > 0 ? 'image' : 'text'
}
