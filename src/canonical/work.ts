import type { CanonicalRequest, Modality } from './request.ts'

/**
 * Kinds of work that a request can ask for. The kind determines which formats can carry the request, and with which
 * losses.
 */
export type Work =
  | 'conversation'
  | 'completion'
  | 'count'
  | 'compaction'
  | 'embedding'
  | 'ranking'
  | 'image'
  | 'speech'
  | 'transcription'
  | 'realtime'
  /** Answered with a task. */
  | 'video'

/**
 * Kind of work for each modality that is requested alone. Together with text, the modality is part of a conversation.
 */
const WORK_OF_MODALITY: { readonly [M in Modality]?: Work } = {
  embedding: 'embedding',
  image: 'image',
  audio: 'speech',
  video: 'video',
}

/** Returns the kind of work that a request's output implies. */
export function workOf({ output }: CanonicalRequest): Work {
  if (output.count === true) return 'count'
  if (output.compaction === true) return 'compaction'
  if (output.ranking !== undefined) return 'ranking'
  if (output.transcript !== undefined) return 'transcription'
  if (output.completion !== undefined) return 'completion'
  const { modalities } = output
  return (modalities?.length === 1 ? WORK_OF_MODALITY[modalities[0]!] : undefined) ?? 'conversation'
}

const WORKS_WITH_INDEPENDENT_INPUTS: ReadonlySet<Work> = new Set(['completion', 'embedding', 'ranking'])

/**
 * Returns true if the messages are independent inputs instead of a conversation. Independent inputs must not be merged
 * or dropped.
 */
export const hasIndependentInputs = (request: CanonicalRequest): boolean =>
  WORKS_WITH_INDEPENDENT_INPUTS.has(workOf(request))
