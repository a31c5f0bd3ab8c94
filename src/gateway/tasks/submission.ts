import { conflict, type GatewayError } from '../../canonical/error.ts'
import { defined } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import type { UpstreamTask } from '../../canonical/task.ts'
import { WRITERS } from '../../egress/index.ts'
import type { StoredTask, Tasks } from '../../store/tasks.ts'
import { freshId } from '../../store/usage/request-id.ts'
import { accountName } from '../../upstreams/accounts-of-channels.ts'
import type { Target } from '../../upstreams/router.ts'
import { storable } from './public-task.ts'
import { targetsOfOriginal } from './remix.ts'
import { mayBeAccepted } from './submit-outcome.ts'

export interface SubmissionOptions {
  readonly store: Tasks
  readonly owner: string
  /** Request with the caller's model name or, for a remix, the model of the original. */
  readonly request: CanonicalRequest
  readonly idempotencyKey?: string
  /** Releases the lock of the idempotency key. */
  readonly release?: () => void
  /** The task to remix. */
  readonly original?: StoredTask
  /** Id of the submitting process. */
  readonly worker: string
  readonly now: number
  /** Retention time of the task, in milliseconds. */
  readonly lifetime: number
  /** Base URL of the gateway, without a trailing slash. */
  readonly base: string
}

/** First delay between attempts to store an accepted task, in milliseconds. */
const RETRY_DELAY = 250
/** Maximum number of attempts to store an accepted task. */
const MAX_ATTEMPTS = 8

/**
 * A submission in progress. The task is stored before it is sent, and updated before the caller is answered. Once an
 * upstream may have accepted the task, no other upstream is tried.
 */
export class Submission {
  readonly id = `video_${freshId()}`
  readonly base: string
  readonly release: (() => void) | undefined
  /** True if there was no usable answer and the upstream may still have accepted the task. */
  mayBeAccepted = false
  private storedTask: StoredTask | undefined
  private isAccepted = false
  private readonly options: SubmissionOptions

  constructor(options: SubmissionOptions) {
    this.options = options
    this.base = options.base
    this.release = options.release
  }

  /** Request to send. A remix has the model and the upstream id of its original. */
  get request(): CanonicalRequest {
    return this.options.request
  }

  /** The request as its upstream bills it, if it is a remix: one is as long as its original. */
  get billedRemix(): CanonicalRequest | undefined {
    const { original, request } = this.options
    if (original === undefined) return undefined
    const seconds = original.result.task?.seconds ?? original.output.video?.seconds
    return { ...request, output: { ...request.output, video: { ...request.output.video, ...defined({ seconds }) } } }
  }

  /** True if no other upstream may be tried. */
  get forbidsFailover(): boolean {
    return this.mayBeAccepted || this.isAccepted
  }

  /**
   * Returns the targets that can serve the request. Throws GatewayError `invalid-request` for a remix whose upstream is
   * missing.
   */
  eligibleTargets(targets: readonly Target[]): readonly Target[] {
    const { original } = this.options
    return original === undefined ? targets : targetsOfOriginal(targets, original)
  }

  /**
   * Adds a reference by which the task can later be looked up at the upstream, if its format supports references and the
   * caller chose none.
   */
  withReference(request: CanonicalRequest, { format }: Target): CanonicalRequest {
    if (WRITERS[format.format]?.tasks?.find === undefined) return request
    const reference = request.output.video?.reference ?? this.id
    return { ...request, output: { ...request.output, video: { ...request.output.video, reference } } }
  }

  /**
   * Stores the task, or its new target.
   *
   * @throws GatewayError `conflict` if another submission with the same idempotency key was stored in the meantime;
   * errors of the store.
   */
  async storeTarget({ channel, format, upstreamModel }: Target, request: CanonicalRequest): Promise<void> {
    const { store, owner } = this.options
    const { reference } = request.output.video ?? {}
    const destination = {
      ...{ channel: accountName(channel), format: format.format, upstreamModel },
      // A reference that a caller chose may also be that of another key's task at the same account.
      ...(reference === this.id && { reference }),
    }
    if (this.storedTask !== undefined) {
      await store.move(owner, this.id, destination)
      this.storedTask = { ...this.storedTask, ...destination }
      return
    }
    const task = this.task(destination)
    if (!(await store.begin(task))) throw KEY_IN_USE
    this.storedTask = task
  }

  /** Records a failure. Returns true if the upstream may have accepted the task, so that no other upstream is tried. */
  recordFailure(failure: GatewayError): boolean {
    this.mayBeAccepted ||= this.isAccepted || mayBeAccepted(failure)
    return this.mayBeAccepted
  }

  /**
   * Stores the upstream's answer, with retries, and returns the task as stored: another process that took this one for
   * dead may have ended it. Rejects if the store fails every attempt.
   */
  async storeAccepted(result: CanonicalResult, target: Target): Promise<StoredTask> {
    this.isAccepted = true
    const { store, owner, request } = this.options
    const state = result.task!.state
    const change = {
      state,
      result: storable(result, target, { id: this.id, model: request.model }),
      upstreamId: result.id!,
    }
    for (let attempt = 1; ; attempt++) {
      try {
        const isStored = await store.advance(owner, this.id, change)
        const ended = isStored ? undefined : await store.find(owner, this.id)
        return ended ?? { ...this.storedTask!, ...change }
      } catch (thrown) {
        if (attempt === MAX_ATTEMPTS) {
          this.mayBeAccepted = true
          throw thrown
        }
        await new Promise(resolve => setTimeout(resolve, RETRY_DELAY * attempt))
      }
    }
  }

  /** Called after the last attempt. Deletes the task if no upstream accepted it; returns it if one may have. */
  async finish(): Promise<StoredTask | undefined> {
    const { store, owner } = this.options
    if (this.storedTask === undefined) return undefined
    if (this.mayBeAccepted) return this.storedTask
    if (this.isAccepted) return undefined
    await store.drop(owner, this.id).catch(() => {})
    return undefined
  }

  private task(destination: Pick<StoredTask, 'channel' | 'format' | 'upstreamModel' | 'reference'>): StoredTask {
    const { owner, request, idempotencyKey, original, worker, now, lifetime } = this.options
    const { model, output } = request
    const prompt = promptOf(request)
    return {
      ...{ owner, id: this.id, model, ...destination, state: 'submitting', from: inputKindOf(request), output },
      ...(prompt === undefined ? {} : { prompt }),
      ...{ result: { candidates: [] }, worker, misses: 0 },
      ...{ createdAt: now, polledAt: now, expiresAt: now + lifetime },
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
      ...(original === undefined ? {} : { remixOf: original.id }),
    }
  }
}

const KEY_IN_USE = conflict(
  'A request with this idempotency key is being handled.',
  undefined,
  'idempotency_key_in_use',
)

export const promptOf = ({ messages }: CanonicalRequest): string | undefined =>
  messages.flatMap(({ content }) => content).find(part => part.type === 'text')?.text

/** Returns the kind of input that a request has besides its prompt. */
export function inputKindOf({ messages, output }: CanonicalRequest): UpstreamTask['from'] {
  if (output.video?.remixOf !== undefined) return 'video'
  const media = messages.flatMap(({ content }) => content.filter(part => part.type === 'media'))
  if (media.some(({ kind }) => kind === 'video')) return 'video'
  return media.length > 0 ? 'image' : 'text'
}
