import type { MediaPart, Part } from '../../../canonical/content.ts'
import { defined, type Json, type JsonObject, type Node } from '../../../canonical/node.ts'
import type { Role } from '../../../canonical/request.ts'
import type { ConversationItem, ItemStatus } from '../../../canonical/voice-session.ts'
import { fieldsExcept, listAt, objectAt, requiredObjectAt, requiredTextAt, textAt } from '../fields.ts'
import { type Naming, REALTIME } from './wire.ts'

/**
 * Reads a conversation item. Its audio gets the type `mediaType`. Image URLs may be data URLs.
 *
 * @throws GatewayError `invalid-request` with the path of the invalid field.
 */
export function readItem(value: Json | undefined, path: string, mediaType: string): ConversationItem {
  const fields = requiredObjectAt(value, path)
  const type = requiredTextAt(fields['type'], `${path}.type`)
  return defined({
    id: textAt(fields['id'], `${path}.id`),
    status: statusOf(fields['status']),
    isReference: type === REFERENCE ? true : undefined,
    ...contentOf(type, fields, path, mediaType),
    extras: type === 'message' ? extrasOf(fields) : undefined,
  }) as ConversationItem
}

/** Type of an item that stands for another one. */
const REFERENCE = 'item_reference'

const KNOWN_FIELDS: ReadonlySet<string> = new Set(['id', 'object', 'type', 'status', 'role', 'content'])

/** Returns the unknown fields of a message, such as `phase`, as extras. */
function extrasOf(fields: JsonObject): ConversationItem['extras'] {
  const rest = fieldsExcept(fields, KNOWN_FIELDS)
  return rest === undefined ? undefined : { [REALTIME]: rest }
}

type Content = Pick<ConversationItem, 'role' | 'content'>

function contentOf(type: string, fields: JsonObject, path: string, mediaType: string): Content {
  if (type === 'message') return messageOf(fields, path, mediaType)
  if (type === REFERENCE) return { role: 'user', content: [] }
  if (type === 'function_call')
    return {
      role: 'assistant',
      content: [
        {
          type: 'tool-call',
          id: textAt(fields['call_id'], `${path}.call_id`) ?? '',
          name: requiredTextAt(fields['name'], `${path}.name`),
          arguments: textAt(fields['arguments'], `${path}.arguments`) ?? '',
        },
      ],
    }
  if (type === 'function_call_output')
    return {
      role: 'tool',
      content: [
        {
          type: 'tool-result',
          id: requiredTextAt(fields['call_id'], `${path}.call_id`),
          content: [{ type: 'text', text: textAt(fields['output'], `${path}.output`) ?? '' }],
        },
      ],
    }
  const { id: _, status: __, ...value } = fields
  return { role: 'assistant', content: [{ type: 'opaque', format: REALTIME, value }] }
}

const ROLES: ReadonlySet<string> = new Set(['user', 'assistant', 'system'])

function messageOf(fields: JsonObject, path: string, mediaType: string): Content {
  const role = requiredTextAt(fields['role'], `${path}.role`)
  const content = listAt(fields['content'], `${path}.content`) ?? []
  return {
    role: (ROLES.has(role) ? role : 'user') as Role,
    content: content.map((part, index) => readPart(part, `${path}.content[${index}]`, mediaType)),
  }
}

function readPart(value: Json, path: string, mediaType: string): Part {
  const fields = objectAt(value, path) ?? {}
  const type = requiredTextAt(fields['type'], `${path}.type`)
  if (TEXTS.has(type)) return { type: 'text', text: textAt(fields['text'], `${path}.text`) ?? '' }
  if (AUDIO.has(type))
    return defined({
      type: 'media' as const,
      kind: 'audio' as const,
      source: { type: 'base64' as const, mediaType, data: textAt(fields['audio'], `${path}.audio`) ?? '' },
      transcript: textAt(fields['transcript'], `${path}.transcript`),
    }) as Part
  if (type === 'input_image') return imageOf(fields, path)
  return { type: 'opaque', format: REALTIME, value: fields }
}

const TEXTS: ReadonlySet<string> = new Set(['input_text', 'output_text', 'text'])
const AUDIO: ReadonlySet<string> = new Set(['input_audio', 'output_audio', 'audio'])

const DATA_URL = /^data:([^;,]+);base64,/

function imageOf(fields: JsonObject, path: string): MediaPart {
  const url = requiredTextAt(fields['image_url'], `${path}.image_url`)
  const match = DATA_URL.exec(url)
  const detail = textAt(fields['detail'], `${path}.detail`)
  return {
    type: 'media',
    kind: 'image',
    source:
      match === null
        ? { type: 'url', url }
        : { type: 'base64', mediaType: match[1]!, data: url.slice(match[0].length) },
    ...(detail === undefined ? {} : { detail }),
  }
}

const statusOf = (value: Json | undefined): ItemStatus | undefined =>
  value === 'in_progress' || value === 'completed' || value === 'incomplete' ? value : undefined

/** Writes an item. If `shown` is true, it is for a caller; for an upstream, `object` and `status` are left out. */
export function writeItem(item: ConversationItem, naming: Naming, shown: boolean): JsonObject {
  if (item.isReference === true) return defined({ id: item.id, type: REFERENCE }) as JsonObject
  const head = defined({
    id: item.id,
    object: shown ? 'realtime.item' : undefined,
    status: shown ? (item.status ?? 'completed') : undefined,
  })
  const [first] = item.content
  if (first?.type === 'tool-call')
    return { ...head, type: 'function_call', name: first.name, call_id: first.id, arguments: first.arguments }
  if (first?.type === 'tool-result')
    return { ...resultHead(head, item), type: 'function_call_output', call_id: first.id, output: textOf(first.content) }
  if (first?.type === 'opaque' && item.content.length === 1 && isWholeItem(first.value))
    return { ...head, ...first.value }
  const role = item.role === 'developer' || item.role === 'tool' ? 'system' : item.role
  const extras = item.extras?.[REALTIME] ?? {}
  return {
    ...head,
    type: 'message',
    role,
    ...extras,
    content: item.content.flatMap(part => writePart(part, role, naming, shown)),
  }
}

/** Omits the status of a call's output unless the client set one. OpenAI does the same. */
const resultHead = ({ status: _, ...head }: JsonObject, { status }: ConversationItem): JsonObject =>
  status === undefined || status === 'completed' ? head : { ...head, status }

/** Returns true for an opaque value that is an entire item, false for a part of a message. */
const isWholeItem = (value: JsonObject): boolean =>
  String(value['type']).startsWith('mcp_') || 'server_label' in value || 'role' in value

const textOf = (parts: readonly Part[]): string => parts.map(part => (part.type === 'text' ? part.text : '')).join('')

function writePart(part: Part, role: string, naming: Naming, shown: boolean): JsonObject[] {
  if (part.type === 'text') return [{ type: TEXT_TYPES[naming](role), text: part.text }]
  if (part.type === 'opaque') return part.format === REALTIME ? [part.value] : []
  if (part.type !== 'media') return []
  if (part.kind === 'image') return [{ type: 'input_image', image_url: urlOf(part), ...detailOf(part) }]
  if (part.kind !== 'audio' || part.source.type !== 'base64') return []
  const transcript =
    part.transcript === undefined ? (shown ? { transcript: null } : {}) : { transcript: part.transcript }
  const audio = part.source.data === '' ? {} : { audio: part.source.data }
  return [{ type: AUDIO_TYPES[naming](role), ...audio, ...transcript }]
}

const detailOf = ({ detail }: MediaPart): JsonObject & Node => (detail === undefined ? {} : { detail })

function urlOf({ source }: MediaPart): string {
  if (source.type === 'url') return source.url
  return source.type === 'base64' ? `data:${source.mediaType};base64,${source.data}` : ''
}

const TEXT_TYPES: { readonly [N in Naming]: (role: string) => string } = {
  ga: role => (role === 'assistant' ? 'output_text' : 'input_text'),
  beta: role => (role === 'assistant' ? 'text' : 'input_text'),
}
const AUDIO_TYPES: { readonly [N in Naming]: (role: string) => string } = {
  ga: role => (role === 'assistant' ? 'output_audio' : 'input_audio'),
  beta: role => (role === 'assistant' ? 'audio' : 'input_audio'),
}
