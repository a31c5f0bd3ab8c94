import { CallIds } from '../../canonical/call-ids.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, EmbeddingPurpose, Message } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { readValidated } from '../errors/validation-error.ts'
import { defined, number, object, objects, required, text, WrongType } from '../fields.ts'
import { type Address, modelMark, readAddress } from './address.ts'
import { listed, nodeOf, type Opened, open, type Remains, remainsOf, single } from './fields.ts'
import { readPart } from './parts.ts'
import * as wire from './wire.ts'

/** Whether a path's method embeds. */
export const embeds = (path: string): boolean => /:(?:embedContent|batchEmbedContents)$/.test(path)

/** `:embedContent` and `:batchEmbedContents` (FORMATS §8) as a canonical request: each content is one input. */
export function readEmbedding(request: WireRequest): CanonicalRequest {
  const address = readAddress(request.path)
  return readValidated(
    () => wire.requestAt(request),
    request.body,
    () => read(request, address),
  )
}

const BATCH = new Set(['requests'])

function read({ body, query }: WireRequest, { model, method, place }: Address): CanonicalRequest {
  const spelt = { ...place, method, query: Object.keys(query).length === 0 ? undefined : query }
  if (method === 'embedContent') return embedding([open(body, ITEM, NUMBERS)], { model, spelt, remains: {} })
  const opened = open(body, BATCH)
  const items = required(objects(opened.fields['requests'])).map(item => open(item, ITEM, NUMBERS))
  if (items.length === 0) throw WrongType.instance
  return embedding(items, { model, spelt, remains: remainsOf(opened, BATCH) })
}

const ITEM = new Set(['model', 'content', 'taskType', 'title', 'outputDimensionality', 'embedContentConfig'])
const CONFIG = new Set(['taskType', 'outputDimensionality'])
const NUMBERS = ['outputDimensionality']

interface Whole {
  readonly model: string
  readonly spelt: { readonly [key: string]: Json | undefined }
  readonly remains: Remains
}

function embedding(items: readonly Opened[], { model, spelt, remains }: Whole): CanonicalRequest {
  const settings = items.map(readSettings)
  const purpose = common(settings.map(setting => setting.purpose))
  const dimensions = common(settings.map(setting => setting.dimensions))
  const refused = [
    ...(purpose === undefined ? ['taskType'] : []),
    ...(dimensions === undefined ? ['outputDimensionality'] : []),
  ]
  const wanted = defined({ dimensions, purpose })
  return {
    model,
    messages: items.map((item, index) => readItem(item, settings[index]!, model, refused)),
    output: { modalities: ['embedding'], ...(Object.keys(wanted).length === 0 ? {} : { embedding: wanted }) },
    sampling: {},
    stream: false,
    ...nodeOf({ ...remains, marks: { ...remains.marks, ...(defined(spelt) as JsonObject) } }),
  }
}

/** The value all inputs share; where they differ, each keeps its own. */
const common = <T>([first, ...others]: readonly (T | undefined)[]): T | undefined =>
  others.every(other => other === first) ? first : undefined

const PURPOSES: ReadonlyMap<Json | undefined, EmbeddingPurpose> = new Map<Json | undefined, EmbeddingPurpose>([
  ['RETRIEVAL_QUERY', 'query'],
  ['RETRIEVAL_DOCUMENT', 'document'],
  ['SEMANTIC_SIMILARITY', 'similarity'],
  ['CLASSIFICATION', 'classification'],
  ['CLUSTERING', 'clustering'],
  ['QUESTION_ANSWERING', 'question-answering'],
  ['FACT_VERIFICATION', 'fact-verification'],
  ['CODE_RETRIEVAL_QUERY', 'code-query'],
])

/** The settings of one input; they stand in a config, or, in the first version, beside the content. */
interface Settings {
  readonly purpose: EmbeddingPurpose | undefined
  readonly dimensions: number | undefined
  readonly config: Opened | undefined
  /** The fields that were taken from the config. */
  readonly inside: readonly string[]
}

function readSettings({ fields }: Opened): Settings {
  const wires = object(fields['embedContentConfig'])
  const config = wires === undefined ? undefined : open(wires, CONFIG, NUMBERS)
  const [outer, inner] = [PURPOSES.get(text(fields['taskType'])), PURPOSES.get(text(config?.fields['taskType']))]
  const size = number(fields['outputDimensionality'])
  const innerSize = number(config?.fields['outputDimensionality'])
  return {
    purpose: outer ?? inner,
    dimensions: size ?? innerSize,
    config,
    inside: [
      ...(outer === undefined && inner !== undefined ? ['taskType'] : []),
      ...(size === undefined && innerSize !== undefined ? ['outputDimensionality'] : []),
    ],
  }
}

const ITEM_TAKEN = new Set(['model', 'content', 'taskType', 'outputDimensionality', 'embedContentConfig'])

function readItem(opened: Opened, { config, inside }: Settings, model: string, refused: readonly string[]): Message {
  const content = readContent(required(object(opened.fields['content'])))
  const taken = inside.filter(field => !refused.includes(field))
  const remains = remainsOf(
    opened,
    ITEM_TAKEN,
    { model: modelMark(text(opened.fields['model']), model), config: taken.length === 0 ? undefined : taken },
    {
      content: content.remains,
      embedContentConfig: config === undefined ? undefined : remainsOf(config, new Set(taken), { present: true }),
    },
    [...refused, ...inside],
  )
  return { role: 'user', content: content.parts, ...nodeOf(remains) }
}

const CONTENT = new Set(['role', 'parts'])

function readContent(wire: JsonObject): { readonly parts: Message['content']; readonly remains: Remains } {
  const opened = open(wire, CONTENT)
  const { parts } = opened.fields
  const ids = new CallIds()
  return {
    parts: (objects(listed(parts)) ?? []).flatMap(part => readPart(part, ids)),
    remains: remainsOf(opened, CONTENT, {
      role: text(opened.fields['role']),
      parts: parts == null ? 'absent' : single(parts),
    }),
  }
}
