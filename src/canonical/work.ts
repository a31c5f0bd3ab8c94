import type { CanonicalRequest, Modality } from './request.ts'

/** The kinds of work there are: which formats can carry a request depends on it, and so do its losses. */
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
  /** Its answer is a task. */
  | 'video'

/** A request for nothing but one of these is that kind of work; beside text they are part of a conversation. */
const ALONE: { readonly [M in Modality]?: Work } = {
  embedding: 'embedding',
  image: 'image',
  audio: 'speech',
  video: 'video',
}

/** What kind of work a request asks for, by what it wants back. */
export function workOf({ output }: CanonicalRequest): Work {
  if (output.count === true) return 'count'
  if (output.compaction === true) return 'compaction'
  if (output.ranking !== undefined) return 'ranking'
  if (output.transcript !== undefined) return 'transcription'
  if (output.completion !== undefined) return 'completion'
  const [only, ...others] = output.modalities ?? []
  return (only !== undefined && others.length === 0 ? ALONE[only] : undefined) ?? 'conversation'
}

const LISTS: ReadonlySet<Work> = new Set(['completion', 'embedding', 'ranking'])

/** Whether the messages are a list of things, each for itself, and no conversation: none joins another, none may be missing. */
export const lists = (request: CanonicalRequest): boolean => LISTS.has(workOf(request))
