import type { CanonicalRequest, Modality } from './request.ts'

/** Kinds of work that a request can ask for. They determine which formats can carry the request, and its losses. */
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
  /** The answer is a task. */
  | 'video'

/**
 * The kind of work of each modality if it is the only one. Together with text, the modality is part of a conversation.
 */
const WORK_OF_MODALITY: { readonly [M in Modality]?: Work } = {
  embedding: 'embedding',
  image: 'image',
  audio: 'speech',
  video: 'video',
}

/** Returns the kind of work of a request, by its output. */
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
 * Whether the messages are independent inputs instead of a conversation. Independent inputs must not be merged or
 * dropped.
 */
export const hasIndependentInputs = (request: CanonicalRequest): boolean =>
  WORKS_WITH_INDEPENDENT_INPUTS.has(workOf(request))
