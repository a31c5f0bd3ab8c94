import type { CanonicalRequest, Modality } from './request.ts'

/** The kinds of work: which formats can carry a request depends on it, and so do its losses. */
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
  /** Its answer is a task. */
  | 'video'

/** A single one of these modalities determines the kind of work; beside text they are part of a conversation. */
const ALONE: { readonly [M in Modality]?: Work } = {
  embedding: 'embedding',
  image: 'image',
  audio: 'speech',
  video: 'video',
}

/** The kind of work a request asks for, by its output. */
export function workOf({ output }: CanonicalRequest): Work {
  if (output.count === true) return 'count'
  if (output.compaction === true) return 'compaction'
  if (output.ranking !== undefined) return 'ranking'
  if (output.transcript !== undefined) return 'transcription'
  if (output.completion !== undefined) return 'completion'
  const { modalities } = output
  return (modalities?.length === 1 ? ALONE[modalities[0]!] : undefined) ?? 'conversation'
}

const LISTS: ReadonlySet<Work> = new Set(['completion', 'embedding', 'ranking'])

/**
 * Whether the messages are a list of independent inputs instead of a conversation: none may be joined with another or
 * left out.
 */
export const lists = (request: CanonicalRequest): boolean => LISTS.has(workOf(request))
