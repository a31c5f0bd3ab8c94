import type { MediaPart, Part } from '../../canonical/content.ts'
import type { Path } from '../../canonical/loss.ts'
import { urlOfSource } from '../../canonical/media/data-url.ts'
import { defined, type Json, type JsonObject, parseJson } from '../../canonical/node.ts'
import { around, extrasFor, spellingFor } from '../fields.ts'
import { searchInWords } from '../searches.ts'
import { FORMAT, type WriteContext } from './context.ts'

/** Writes a part of a content list. If the format cannot express the part, reports a loss and returns undefined. */
export function writePart(part: Part, path: Path, context: WriteContext): JsonObject | undefined {
  const { losses } = context
  if (part.type !== 'opaque' && part.type !== 'media' && part.cache !== undefined && !isSearch(part))
    losses.drop([...path, 'cache'], 'no-cache-markers')
  switch (part.type) {
    case 'text':
      return writeText(part, path, context)
    case 'refusal':
      losses.changeRestored(path, { type: 'text', text: part.text }, 'said-as-text')
      return { type: 'text', text: part.text }
    case 'media':
      return writeMedia(part, path, context)
    case 'search-call':
    case 'search-result': {
      const { cache: _, ...search } = part
      return { type: 'text', text: searchInWords(search, path, losses).text }
    }
    case 'opaque':
      if (part.format === FORMAT) return part.value
      return part.text === undefined ? undefined : { type: 'text', text: part.text }
    default:
      return losses.drop(path, 'not-in-this-turn')
  }
}

const isSearch = ({ type }: Part): boolean => type === 'search-call' || type === 'search-result' || type === 'refusal'

/** Writes a text. A text that was read from the document of a tool result becomes a document again. */
function writeText(part: Part & { type: 'text' }, path: Path, { losses }: WriteContext): JsonObject {
  if (part.annotations !== undefined) losses.dropRestored([...path, 'annotations'], 'no-annotations-in-requests')
  const { document } = spellingFor(part, FORMAT)
  if (document === undefined) return { type: 'text', text: part.text, ...extrasFor(part, FORMAT) }
  const data = document === 'json' ? (parseJson(part.text) ?? part.text) : part.text
  return around(FORMAT, part, 'document', { data })
}

/** Writes an image, or a text document as text that begins with its name. The format has no other media. */
function writeMedia(part: MediaPart, path: Path, { losses }: WriteContext): JsonObject | undefined {
  if (part.source.type === 'text') {
    const text = part.name === undefined ? part.source.text : `${part.name}\n\n${part.source.text}`
    losses.change(path, { type: 'text', text }, 'said-in-words')
    return { type: 'text', text }
  }
  const url = part.kind === 'image' ? urlOfSource(part.source) : undefined
  if (url === undefined) return losses.drop(path, part.kind === 'image' ? 'no-file-ids' : `no-${part.kind}`)
  losses.dropFields(part, path, IMAGE_LOSSES)
  if (part.source.type === 'url' && part.source.mediaType !== undefined)
    losses.drop([...path, 'source', 'mediaType'], 'no-media-type-of-urls')
  return around(FORMAT, part, 'image_url', defined({ url, detail: part.detail }))
}

const IMAGE_LOSSES = {
  cache: 'no-cache-markers',
  name: 'no-name-here',
  transcript: 'no-transcript-here',
  made: 'no-properties-here',
  use: 'no-uses-here',
}

const isPlainText = (wire: JsonObject): boolean => wire['type'] === 'text' && Object.keys(wire).length === 2

/** Returns the content as a string if it is a single plain text, otherwise as a list. Empty texts are left out. */
export function contentOf(parts: readonly JsonObject[]): Json {
  const nonEmptyParts = parts.filter(part => !isPlainText(part) || part['text'] !== '')
  if (nonEmptyParts.length === 0) return ''
  return nonEmptyParts.length === 1 && isPlainText(nonEmptyParts[0]!) ? nonEmptyParts[0]!['text']! : nonEmptyParts
}
