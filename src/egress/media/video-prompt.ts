import type { MediaPart, OpaquePart, Part } from '../../canonical/content.ts'
import type { Losses, Path } from '../../canonical/loss.ts'
import type { Format } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { dropOthers, PLAIN_MEDIA_LOSSES } from '../sanitize/unwritten.ts'
import { joinedPrompt, promptTextOf, reportRest, turnOf } from './prompt.ts'

/** A media part or an opaque part of this format, and its path in the request. */
export interface PathedPart {
  readonly part: MediaPart | OpaquePart
  readonly path: Path
}

/** The prompt of a video: one text and the media to start from. */
export interface VideoPrompt {
  readonly text: string | undefined
  readonly media: readonly PathedPart[]
}

/** A format's rules for the media of a video prompt. */
export interface VideoPromptOptions {
  readonly format: Format
  /** The format's media fields, in the order in which readers read them. If absent, media keep the caller's order. */
  readonly fields?: readonly string[]
  /** Maximum number of media per field. Defaults to 1. */
  readonly most?: { readonly [field: string]: number }
  /** Returns the field for a media part, or undefined if the format has none. */
  fieldOf(part: MediaPart): string | undefined
}

/**
 * Reads the video prompt from the last user turn: the joined text parts, and the media that the format accepts. Reports
 * the loss of everything else, except for fields that writers handle themselves (`endUser`, `sampling.seed` and the
 * output settings in `WRITER_FIELDS`), and for extras and spelling, which `foreignLosses` reports.
 */
export function videoPromptOf(request: CanonicalRequest, options: VideoPromptOptions, losses: Losses): VideoPrompt {
  const turn = turnOf(request)
  const { seed: _, ...sampling } = request.sampling
  reportRest({ ...request, sampling }, turn, { background: 'always-in-the-background' }, losses)
  dropOthers(request.output, ['output'], WRITER_FIELDS, 'video-only', losses)
  if (request.stream) losses.changeRestored(['stream'], false, 'tasks-are-not-streamed')
  return split(request.messages[turn]?.content ?? [], ['messages', turn, 'content'], options, losses)
}

const WRITER_FIELDS = new Set(['modalities', 'candidates', 'video'])

/** Losses of media parts in all video formats. */
export const MEDIA_LOSSES = { ...PLAIN_MEDIA_LOSSES, name: 'no-names', made: 'no-properties-here' }

/** Splits the turn into text and media. Reports parts that the format does not accept. */
function split(content: readonly Part[], path: Path, options: VideoPromptOptions, losses: Losses): VideoPrompt {
  const { format, fieldOf, most = {} } = options
  const texts: number[] = []
  const media: number[] = []
  const countByField = new Map<string, number>()
  for (const [index, part] of content.entries()) {
    if (promptTextOf(part, format) !== undefined) texts.push(index)
    else if (part.type === 'opaque') {
      // `foreignLosses` reports opaque parts of other formats.
      if (part.format === format) media.push(index)
    } else {
      const field = part.type === 'media' ? fieldOf(part) : undefined
      const count = countByField.get(field ?? '') ?? 0
      if (field === undefined || count === (most[field] ?? 1)) losses.drop([...path, index], 'no-place-in-a-prompt')
      else {
        countByField.set(field, count + 1)
        media.push(index)
      }
    }
  }
  sortByField(media, content, options)
  losses.reorder(path, [...texts, ...media], content.length, 'text-first')
  return {
    text: joinedPrompt(content, texts, path, format, losses),
    media: media.map(index => ({ part: content[index] as MediaPart | OpaquePart, path: [...path, index] })),
  }
}

/** Sorts media in place by the order of the format's fields. Opaque parts of this format come last. */
function sortByField(media: number[], content: readonly Part[], { fields, fieldOf }: VideoPromptOptions): void {
  if (fields === undefined) return
  const rankOf = (index: number): number => {
    const part = content[index]!
    return part.type === 'media' ? fields.indexOf(fieldOf(part)!) : Number.MAX_SAFE_INTEGER
  }
  media.sort((a, b) => rankOf(a) - rankOf(b) || a - b)
}
