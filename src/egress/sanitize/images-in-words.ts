import type { Part, TextPart } from '../../canonical/content.ts'
import { Losses, type Path, type Written } from '../../canonical/loss.ts'
import type { CanonicalRequest, Message } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'

/*
 * Models that take text only refuse a request with an image ("unknown variant `image_url`, expected `text`"). An image
 * stays in the history of an agent, so that the upstream would refuse every later request of the session, too.
 */

const WORDS = '[The image is left out: this model takes no images.]'

/**
 * Writes a request. Without `takesImages`, each image of a user, a tool or the instructions becomes a text in its
 * place. Formats have rules of their own for images of assistants.
 */
export function withImagesInWords(
  request: CanonicalRequest,
  takesImages: boolean,
  write: (request: CanonicalRequest) => Written<WireRequest>,
): Written<WireRequest> {
  if (takesImages) return write(request)
  const losses = new Losses()
  const messages = request.messages.map((message, index): Message => {
    if (message.role === 'assistant') return message
    const content = inWords(message.content, ['messages', index, 'content'], losses)
    return content === message.content ? message : { ...message, content }
  })
  if (losses.list.length === 0) return write(request)
  const written = write({ ...request, messages })
  return { ...written, losses: [...losses.list, ...written.losses] }
}

/** Replaces the images among the parts and in results of tools. Returns the same list if there are none. */
function inWords(parts: readonly Part[], path: Path, losses: Losses): readonly Part[] {
  const replaced = parts.map((part, index): Part => {
    const at = [...path, index]
    if (part.type === 'tool-result') {
      const content = inWords(part.content, [...at, 'content'], losses)
      return content === part.content ? part : { ...part, content }
    }
    if (part.type !== 'media' || part.kind !== 'image') return part
    const words: TextPart = { type: 'text', text: WORDS, ...(part.cache === undefined ? {} : { cache: part.cache }) }
    losses.change(at, words, 'no-images')
    return words
  })
  return replaced.some((part, index) => part !== parts[index]) ? replaced : parts
}
