import type { MediaPart, OpaquePart, Part } from '../../canonical/content.ts'
import type { Losses, Path } from '../../canonical/loss.ts'
import type { Format } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { dropOthers, reportConversational } from '../sanitize/bare.ts'

/** A picture or a piece of the format's own, and where in the request it stands. */
export interface PlacedPart {
  readonly part: MediaPart | OpaquePart
  readonly path: Path
}

/** What a video is to show: one text, and the media it starts from. */
export interface VideoPrompt {
  readonly text: string | undefined
  readonly media: readonly PlacedPart[]
}

export interface VideoPromptOptions {
  readonly format: Format
  /** Whether the writer has a place for the part, given what it has taken before. */
  takes(part: MediaPart, taken: readonly MediaPart[]): boolean
  /** The place of a part among the format's fields, smaller first; without it media stand as they came. */
  rank?(part: MediaPart): number
}

/**
 * The prompt of a request for a video, which is its last user turn: the texts of the turn joined, then its media as far
 * as the format takes them. Everything else the request holds beside `output` and `sampling.seed` is reported lost, so
 * that a writer reports of those two alone.
 */
export function videoPromptOf(request: CanonicalRequest, options: VideoPromptOptions, losses: Losses): VideoPrompt {
  const turn = request.messages.findLastIndex(({ role }) => role === 'user')
  const { seed: _, ...sampling } = request.sampling
  reportConversational({ ...request, sampling }, losses)
  losses.dropFields(request.state, ['state'], STATE_LOSSES)
  dropOthers(request.output, ['output'], OUTPUT, 'video-only', losses)
  if (request.stream) losses.rename(['stream'], false, 'tasks-are-not-streamed')
  for (const [index, message] of request.messages.entries())
    if (index !== turn) losses.drop(['messages', index], 'one-turn-only')
    else losses.dropFields(message, ['messages', index], { name: 'no-names' })
  return split(request.messages[turn]?.content ?? [], ['messages', turn, 'content'], options, losses)
}

const OUTPUT = new Set(['modalities', 'candidates', 'video'])
const STATE_LOSSES = {
  store: 'no-storage',
  previous: 'no-kept-answers',
  conversation: 'no-conversations',
  background: 'always-in-the-background',
  thread: 'no-threads',
}

function split(content: readonly Part[], path: Path, options: VideoPromptOptions, losses: Losses): VideoPrompt {
  const texts: number[] = []
  const media: number[] = []
  const taken: MediaPart[] = []
  for (const [index, part] of content.entries()) {
    if (wordsOf(part, options.format) !== undefined) texts.push(index)
    else if (part.type === 'opaque') {
      // Another format's is reported by `foreign`.
      if (part.format === options.format) media.push(index)
    } else if (part.type === 'media' && options.takes(part, taken)) {
      taken.push(part)
      media.push(index)
    } else losses.drop([...path, index], 'no-place-in-a-prompt')
  }
  sortByRank(media, content, options)
  reportOrder([...texts, ...media], content.length, path, losses)
  return {
    text: join(content, texts, path, options.format, losses),
    media: media.map(index => ({ part: content[index] as MediaPart | OpaquePart, path: [...path, index] })),
  }
}

/** A piece that is said in words: a text, or another format's with words of its own. */
function wordsOf(part: Part, format: Format): string | undefined {
  if (part.type === 'text') return part.text
  return part.type === 'opaque' && part.format !== format ? part.text : undefined
}

const TEXT_LOSSES = { cache: 'no-cache-markers', annotations: 'no-annotations' }

function join(
  content: readonly Part[],
  texts: readonly number[],
  path: Path,
  format: Format,
  losses: Losses,
): string | undefined {
  const [first, ...others] = texts
  if (first === undefined) return undefined
  const text = texts.map(index => wordsOf(content[index]!, format)).join('\n\n')
  losses.dropFields(content[first], [...path, first], TEXT_LOSSES)
  if (others.length > 0) losses.change([...path, first, 'text'], text, 'one-prompt')
  for (const index of others) losses.drop([...path, index], 'said-with-the-prompt')
  return text
}

/** In place. Pieces of the format's own stay behind. */
function sortByRank(media: number[], content: readonly Part[], { rank }: VideoPromptOptions): void {
  if (rank === undefined) return
  const rankOf = (index: number): number => {
    const part = content[index]!
    return part.type === 'media' ? rank(part) : Number.MAX_SAFE_INTEGER
  }
  media.sort((a, b) => rankOf(a) - rankOf(b) || a - b)
}

/** First the words, then the media. */
function reportOrder(order: readonly number[], length: number, path: Path, losses: Losses): void {
  if (order.every((index, place) => place === 0 || index > order[place - 1]!)) return
  const there = new Set(order)
  const missing = [...Array(length).keys()].filter(index => !there.has(index))
  losses.move(path, [...order, ...missing], 'words-first')
}
