import type { MediaPart, Part, TextPart } from '../../canonical/content.ts'
import { Losses, type Path, type Written } from '../../canonical/loss.ts'
import type { CanonicalRequest, Message } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'

/*
 * Models that take text only refuse a request with an image ("unknown variant `image_url`, expected `text`"). An image
 * stays in the history of an agent, so that the upstream would refuse every later request of the session, too.
 */

/** Kinds of media that an upstream takes. */
export interface TakenMedia {
  /** Defaults to true. */
  readonly images?: boolean | undefined
  /** Defaults to true. */
  readonly files?: boolean | undefined
}

/**
 * Returns the media that an upstream takes. Native callers may refer to files in ways that the gateway does not know, so
 * that their files are passed on.
 */
export const takenMedia = ({ images, files }: TakenMedia, { native }: { readonly native: boolean }): TakenMedia => ({
  images,
  files: native || files,
})

/** Words and loss reason for media that an upstream does not take. */
const IMAGE = { text: '[The image is left out: this model takes no images.]', reason: 'no-images' } as const
const FILE = { text: '[The file is left out: this model takes no files.]', reason: 'no-files' } as const

/**
 * Writes a request. Each image or file that the upstream does not take becomes a text in its place, in turns of users,
 * tools and instructions. Formats have rules of their own for media of assistants.
 */
export function withMediaInWords(
  request: CanonicalRequest,
  taken: TakenMedia,
  write: (request: CanonicalRequest) => Written<WireRequest>,
): Written<WireRequest> {
  if (taken.images !== false && taken.files !== false) return write(request)
  const losses = new Losses()
  const messages = request.messages.map((message, index): Message => {
    if (message.role === 'assistant') return message
    const content = inWords(message.content, ['messages', index, 'content'], taken, losses)
    return content === message.content ? message : { ...message, content }
  })
  if (losses.list.length === 0) return write(request)
  const written = write({ ...request, messages })
  return { ...written, losses: [...losses.list, ...written.losses] }
}

/** Replaces media among the parts and in results of tools. Returns the same list if there are none. */
function inWords(parts: readonly Part[], path: Path, taken: TakenMedia, losses: Losses): readonly Part[] {
  const replaced = parts.map((part, index): Part => {
    const at = [...path, index]
    if (part.type === 'tool-result') {
      const content = inWords(part.content, [...at, 'content'], taken, losses)
      return content === part.content ? part : { ...part, content }
    }
    const words = part.type === 'media' ? wordsFor(part, taken) : undefined
    if (words === undefined) return part
    const { cache } = part
    const textPart: TextPart = { type: 'text', text: words.text, ...(cache === undefined ? {} : { cache }) }
    losses.change(at, textPart, words.reason)
    return textPart
  })
  return replaced.some((part, index) => part !== parts[index]) ? replaced : parts
}

/** Returns the words in place of a part, or undefined if the upstream takes it. Documents of text are their own words. */
function wordsFor({ kind, source, name }: MediaPart, { images, files }: TakenMedia) {
  if (kind === 'image') return images === false ? IMAGE : undefined
  if (kind !== 'file' || files !== false) return undefined
  if (source.type !== 'text') return FILE
  return { text: name === undefined ? source.text : `${name}\n\n${source.text}`, reason: 'said-in-words' }
}
