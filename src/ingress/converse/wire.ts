import * as v from 'valibot'
import { isObject } from '../../canonical/node.ts'
import { SETTINGS } from '../../formats/settings/converse.ts'
import { json, maybe, maybeText, settingEntries, shape } from '../errors/validation-error.ts'
import { readAddress } from './address.ts'

export const FORMAT = 'converse'

/**
 * Schemas of the Converse and CountTokens requests (docs/wire/converse.md#request). Unknown fields are accepted, and
 * free-form JSON is never validated.
 */

const maybeFlag = maybe(v.boolean())
const texts = maybe(v.array(v.string()))
const maybeJson = maybe(json)

/**
 * Returns the schema of an object whose kind is the name of its only known field. Objects of other kinds become opaque.
 */
const union = (kinds: { readonly [kind: string]: v.GenericSchema }): v.GenericSchema =>
  v.lazy(input => {
    const kind = isObject(input) ? kindOf(input, kinds) : undefined
    return kind === undefined ? json : shape({ [kind]: kinds[kind]! })
  })

/** Returns the kind of an object: its first field that is in `kinds`. */
export function kindOf(wire: { readonly [field: string]: unknown }, kinds: object): string | undefined {
  for (const field in wire) if (wire[field] !== null && Object.hasOwn(kinds, field)) return field
  return undefined
}

const s3Location = shape({ uri: v.string() })

/** Sources that are read. Media with other sources becomes opaque. */
const source = union({ bytes: v.string(), text: v.string(), s3Location })

const media = shape({ format: maybeText, source })

const cachePoint = shape({ type: maybeText, ttl: maybeText })

const result = union({
  text: v.string(),
  json: v.any(),
  image: media,
  document: shape({ format: maybeText, source, name: maybeText }),
  video: media,
})

const toolUse = shape({ toolUseId: v.string(), name: v.string(), type: maybeText, input: maybe(v.any()) })
const toolResult = shape({
  toolUseId: v.string(),
  type: maybeText,
  content: maybe(v.array(result)),
  status: maybeText,
})

/** Content blocks that are read, by kind. */
const BLOCKS = {
  text: v.string(),
  image: media,
  document: shape({ format: maybeText, source, name: maybeText }),
  video: media,
  audio: media,
  toolUse,
  toolResult,
  reasoningContent: union({
    reasoningText: shape({ text: v.string(), signature: maybeText }),
    redactedContent: v.string(),
  }),
  citationsContent: shape({
    content: maybe(v.array(shape({ text: maybeText }))),
    citations: maybe(v.array(json)),
  }),
  cachePoint,
}
const block = union(BLOCKS)
const system = union({ text: v.string(), cachePoint })

/** Roles that a turn may have. */
export const ROLES = ['user', 'assistant', 'system'] as const

const message = shape({ role: v.picklist(ROLES), content: v.array(block) })

const tool = union({
  toolSpec: shape({
    name: v.string(),
    description: maybeText,
    strict: maybeFlag,
    inputSchema: maybe(shape({ json: maybeJson })),
  }),
  systemTool: shape({ name: v.string() }),
  cachePoint,
})

const choice = union({ auto: json, any: json, tool: shape({ name: v.string() }) })

const jsonSchema = shape({ schema: maybeText, name: maybeText, description: maybeText })

const conversation = {
  messages: maybe(v.array(message)),
  system: maybe(v.array(system)),
  toolConfig: maybe(shape({ tools: maybe(v.array(tool)), toolChoice: maybe(choice) })),
  additionalModelRequestFields: maybeJson,
}

const request = shape({
  ...conversation,
  inferenceConfig: maybe(shape({ ...settingEntries(SETTINGS), stopSequences: texts })),
  outputConfig: maybe(
    shape({
      effort: maybeText,
      textFormat: maybe(shape({ type: maybeText, structure: maybe(shape({ jsonSchema: maybe(jsonSchema) })) })),
    }),
  ),
  requestMetadata: maybeJson,
  serviceTier: maybe(shape({ type: maybeText })),
})

const counting = shape({ input: shape({ converse: shape(conversation) }) })

/** Returns the schema for the operation in a request's path. */
export const requestAt = ({ path }: { readonly path: string }): v.GenericSchema =>
  readAddress(path).operation === 'count-tokens' ? counting : request
