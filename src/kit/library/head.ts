import type { ResultEnd, ResultStart } from '../../canonical/event.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import type { ReasoningShown } from '../../canonical/shown-reasoning.ts'
import type { Codec } from './codec.ts'

/** The caller of a translation. */
export interface Caller {
  readonly codec: Codec
  readonly request: CanonicalRequest
  /** True if the upstream knows the model by another name. */
  readonly isRenamed: boolean
  /** True if the upstream uses the caller's format. */
  readonly native: boolean
}

const now = (): number => Math.floor(Date.now() / 1000)

/** Fills in the id, model and time of an answer. The writer adds fields that a native upstream left out. */
export function headOf<T extends CanonicalResult | ResultStart>(result: T, { request, isRenamed, native }: Caller): T {
  return {
    ...result,
    // Clients assemble a stream by its id, and drop chunks with an empty id.
    id: result.id === '' && 'type' in result ? newId() : (result.id ?? newId()),
    model: isRenamed ? request.model : (result.model ?? request.model),
    createdAt: result.createdAt ?? now(),
    ...(native ? { complete: true } : {}),
  }
}

const newId = (): string => crypto.randomUUID().replaceAll('-', '')

/** Adds the completion time, in formats that have a field for it. */
export function withCompletionTime<T extends CanonicalResult | ResultEnd>(result: T, { name, writer }: Codec): T {
  if (writer.completionTime !== true) return result
  return { ...result, spelling: { ...result.spelling, [name]: { ...result.spelling?.[name], completedAt: now() } } }
}

/** Returns how much of the answer's reasoning the caller requested. A native upstream follows the request itself. */
export const reasoningShown = ({ codec, request, native }: Caller): ReasoningShown =>
  native ? 'all' : (codec.reader.reasoningShown?.(request) ?? 'all')
