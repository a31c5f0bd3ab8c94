import type { CallerFormat, UpstreamFormat } from './formats.ts'

/** Kind of work that gateways are compared in. */
export interface PeerCell {
  readonly name: string
  readonly caller: Extract<CallerFormat, 'chat' | 'messages' | 'contents' | 'responses'>
  readonly upstream: Extract<UpstreamFormat, 'chat' | 'messages' | 'contents'>
  /** Kind of answer of the stub. */
  readonly mode: 'whole' | 'burst-500'
}

const WORKS = {
  whole: ', complete',
  'burst-500': ', stream of 500 tokens',
} as const

const PAIRS = [
  ['Chat Completions unchanged', 'chat', 'chat'],
  ['Chat Completions to Messages', 'chat', 'messages'],
  ['Messages to Chat Completions', 'messages', 'chat'],
  ['Messages to Gemini', 'messages', 'contents'],
  ['Gemini to Chat Completions', 'contents', 'chat'],
  ['Responses to Chat Completions', 'responses', 'chat'],
] as const

/** Every pair of formats, complete and as a stream. */
export const PEER_CELLS: readonly PeerCell[] = PAIRS.flatMap(([name, caller, upstream]) =>
  (['whole', 'burst-500'] as const).map(mode => ({ name: name + WORKS[mode], caller, upstream, mode })),
)

/** Number of requests in flight. */
export const LANES = 32
