import type { MediaPart, OpaquePart, Part } from '../../canonical/content.ts'
import type { Losses, Path } from '../../canonical/loss.ts'
import type { Format } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { dropOthers, NO_NOTES } from '../sanitize/bare.ts'
import { joined, reportRest, turnOf, wordsOf } from './prompt.ts'

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
  /** The format's fields for media, in the order in which they are read; without it media stand as they came. */
  readonly fields?: readonly string[]
  /** How many media a field takes, where that is more than one. */
  readonly most?: { readonly [field: string]: number }
  /** The field for a part of any format's caller; undefined where there is none. */
  fieldOf(part: MediaPart): string | undefined
}

/**
 * The prompt of a request for a video, which is its last user turn: the texts of the turn joined, then its media as far
 * as the format takes them. Everything else the request holds beside `output` and `sampling.seed` is reported lost, so
 * that a writer reports of those two alone.
 */
export function videoPromptOf(request: CanonicalRequest, options: VideoPromptOptions, losses: Losses): VideoPrompt {
  const turn = turnOf(request)
  const { seed: _, ...sampling } = request.sampling
  reportRest({ ...request, sampling }, turn, { background: 'always-in-the-background' }, losses)
  dropOthers(request.output, ['output'], OUTPUT, 'video-only', losses)
  if (request.stream) losses.rename(['stream'], false, 'tasks-are-not-streamed')
  return split(request.messages[turn]?.content ?? [], ['messages', turn, 'content'], options, losses)
}

const OUTPUT = new Set(['modalities', 'candidates', 'video'])

/** What media have that no format has a place for. */
export const MEDIA_LOSSES = { ...NO_NOTES, name: 'no-names', made: 'no-looks-here' }

function split(content: readonly Part[], path: Path, options: VideoPromptOptions, losses: Losses): VideoPrompt {
  const { format, fieldOf, most = {} } = options
  const texts: number[] = []
  const media: number[] = []
  const taken = new Map<string, number>()
  for (const [index, part] of content.entries()) {
    if (wordsOf(part, format) !== undefined) texts.push(index)
    else if (part.type === 'opaque') {
      // Another format's is reported by `foreign`.
      if (part.format === format) media.push(index)
    } else {
      const field = part.type === 'media' ? fieldOf(part) : undefined
      const count = taken.get(field ?? '') ?? 0
      if (field === undefined || count === (most[field] ?? 1)) losses.drop([...path, index], 'no-place-in-a-prompt')
      else {
        taken.set(field, count + 1)
        media.push(index)
      }
    }
  }
  sortByField(media, content, options)
  losses.reorder(path, [...texts, ...media], content.length, 'words-first')
  return {
    text: joined(content, texts, path, format, losses),
    media: media.map(index => ({ part: content[index] as MediaPart | OpaquePart, path: [...path, index] })),
  }
}

/** In place. Pieces of the format's own stay behind. */
function sortByField(media: number[], content: readonly Part[], { fields, fieldOf }: VideoPromptOptions): void {
  if (fields === undefined) return
  const rankOf = (index: number): number => {
    const part = content[index]!
    return part.type === 'media' ? fields.indexOf(fieldOf(part)!) : Number.MAX_SAFE_INTEGER
  }
  media.sort((a, b) => rankOf(a) - rankOf(b) || a - b)
}
