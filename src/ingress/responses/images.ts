import { decodeBase64 } from '../../canonical/base64.ts'
import type { MediaPart } from '../../canonical/content.ts'
import { sourceOfUrl } from '../../canonical/media/data-url.ts'
import { sniffMediaType } from '../../canonical/media/sniff.ts'
import { isObject, type Json, type JsonObject, wireSourceOf, withWireSource } from '../../canonical/node.ts'
import type { CanonicalRequest, Message, Output } from '../../canonical/request.ts'
import { workOf } from '../../canonical/work.ts'
import { anyNumber, anyText, defined, extrasOf } from '../fields.ts'
import { FIELDS, readMade, unreadableFields } from '../media/image-settings.ts'
import { FORMAT } from './wire.ts'

const CALL_TYPE = 'image_generation'

const TEXTS = ['size', 'quality', 'background', 'output_format', 'input_fidelity', 'moderation'] as const
const NUMBERS = ['output_compression', 'partial_images'] as const
const SETTINGS: ReadonlySet<string> = new Set(['type', 'input_image_mask', ...TEXTS, ...NUMBERS])

/**
 * Converts a request to an image request if its only tool is image generation and the tool choice forces it
 * (docs/wire/responses.md#tools). Any other or ambiguous request remains a conversation.
 */
export function asImageRequest(request: CanonicalRequest, body: JsonObject): CanonicalRequest {
  const tool = toolOf(body)
  if (tool === undefined) return request
  const mask = readMask(tool['input_image_mask'] ?? undefined)
  const messages = mask === undefined ? request.messages : withMask(request.messages, mask)
  if (mask === 'unclear' || messages === undefined) return request
  const { tools: _tools, toolChoice: _choice, ...others } = request
  const image = readSettings(tool)
  const imageRequest: CanonicalRequest = {
    ...others,
    messages,
    output: {
      ...request.output,
      modalities: ['image'],
      ...(Object.keys(image).length === 0 ? {} : { image }),
    },
  }
  return workOf(imageRequest) === 'image' ? imageRequest : request
}

function toolOf({ tools, tool_choice }: JsonObject): JsonObject | undefined {
  if (!isObject(tool_choice) || tool_choice['type'] !== CALL_TYPE || Object.keys(tool_choice).length !== 1)
    return undefined
  const [tool, ...others] = Array.isArray(tools) ? (tools as readonly Json[]) : []
  if (!isObject(tool) || others.length > 0 || tool['type'] !== CALL_TYPE) return undefined
  const isValid =
    TEXTS.every(field => tool[field] == null || typeof tool[field] === 'string') &&
    NUMBERS.every(field => tool[field] == null || typeof tool[field] === 'number')
  return isValid ? tool : undefined
}

function readSettings(tool: JsonObject): NonNullable<Output['image']> {
  const format = anyText(tool['output_format'])
  return {
    ...defined({
      size: anyText(tool['size']),
      quality: anyText(tool['quality']),
      background: anyText(tool['background']),
      mediaType: format === undefined ? undefined : `image/${format}`,
      compression: anyNumber(tool['output_compression']),
      fidelity: anyText(tool['input_fidelity']),
      moderation: anyText(tool['moderation']),
      previews: anyNumber(tool['partial_images']),
    }),
    ...extrasOf(FORMAT, tool, SETTINGS),
  }
}

/** Reads a mask that consists of only a URL or only an id. */
function readMask(wire: Json | undefined): MediaPart | 'unclear' | undefined {
  if (wire === undefined) return undefined
  const [[field, value] = [], ...others] = isObject(wire) ? Object.entries(wire) : []
  if (typeof value !== 'string' || others.length > 0) return 'unclear'
  if (field === 'image_url') return { type: 'media', kind: 'image', source: sourceOfUrl(value), use: 'mask' }
  if (field === 'file_id')
    return { type: 'media', kind: 'image', source: { type: 'file-id', format: FORMAT, id: value }, use: 'mask' }
  return 'unclear'
}

/**
 * Adds the mask to the last turn. Returns undefined unless that turn is a user turn with text, because otherwise the
 * mask would be read as an input image.
 */
function withMask(messages: readonly Message[], mask: MediaPart | 'unclear'): readonly Message[] | undefined {
  const last = messages.at(-1)
  if (mask === 'unclear' || last?.role !== 'user') return undefined
  if (!last.content.some(part => part.type === 'text' && part.text !== '')) return undefined
  const withMaskPart: Message = { ...last, content: [...last.content, mask] }
  const item = wireSourceOf<JsonObject>(last, FORMAT)?.wire
  return [...messages.slice(0, -1), item === undefined ? withMaskPart : withWireSource(withMaskPart, FORMAT, item)]
}

const CALL_FIELDS = new Set(['type', 'id', 'status', 'result', 'output_format', ...FIELDS])

/** Returns true if an item is an image generation call. */
export const isImageCall = (wire: JsonObject): boolean => wire['type'] === 'image_generation_call'

/** Number of base64 characters that are enough to detect a file type. */
const HEAD = 24

/** Reads the image of an image generation call. Returns undefined if the item is malformed or has no image. */
export function readImageCall(wire: JsonObject): MediaPart | undefined {
  const { id, status, result, output_format } = wire
  const texts = [id, status, output_format].every(field => field == null || typeof field === 'string')
  if (!isImageCall(wire) || typeof result !== 'string' || !texts) return undefined
  const format = anyText(output_format)
  const mediaType =
    format === undefined ? (sniffMediaType(decodeBase64(result.slice(0, HEAD))) ?? 'image/png') : `image/${format}`
  return {
    type: 'media',
    kind: 'image',
    source: { type: 'base64', mediaType, data: result },
    ...defined({ made: readMade(wire) }),
    ...extrasOf(FORMAT, wire, CALL_FIELDS, unreadableFields(wire)),
  }
}
