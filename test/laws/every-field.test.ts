import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isObject, type Json, type JsonObject } from '../../src/canonical/node.ts'
import type { WireRequest } from '../../src/canonical/wire.ts'
import { READERS } from '../../src/ingress/index.ts'
import { formatsWith, holds, plain } from './support.ts'
import { WIRES } from './wires.ts'

/*
 * A reader reads every field that a caller writes: a request without the field is another request. Of two fields that
 * contradict each other, the one that is not read becomes an extra, so that a translation reports its loss.
 */

type Path = readonly (string | number)[]

/** Fields without a meaning for any other format, by the reason. Names are in camelCase, and `*` is an index. */
const UNREAD: { readonly [reason: string]: { readonly [format: string]: RegExp } } = {
  'a default, or what another field already says': {
    chat: /^(thinking$|thinking\/(budgetTokens|effort)$|thinkingBudget$|reasoningEffort$|enableThinking$|reasoning\/enabled$)/,
    cohere: /^inputType$/,
    'cohere-chat':
      /^(thinking|messages\/\*\/citations\/\*\/contentIndex$|messages\/\*\/toolCalls\/\*\/function\/arguments$)/,
    contents: /(responseMimeType|functionCallingConfig\/mode|functionResponse\/id|thought|role)$/,
    converse:
      /(^|\/)(x(More|Vendor)(\/.*)?|constructor(\/.*)?|additionalModelRequestFields(\/thinking)?|toolResult\/status)$/,
    interactions:
      /^(generationConfig\/(imageConfig(\/.*)?|toolChoice\/allowedTools\/mode)|input(\/\*)*(\/(content|result)\/\*)*\/mimeType|responseFormat|responseModalities(\/\*)?|tools\/\*\/searchTypes(\/\*)?)$/,
    messages: /^(messages\/\*\/content\/\*\/caller(\/type)?|thinking(\/display)?|tools\/\*\/name)$/,
    rerank: /^(returnDocuments)$/,
    responses:
      /^(include(\/\*)?|topLogprobs|truncation|tools\/\*\/(tools\/\*\/)?(container|format)|.*promptCacheBreakpoint\/mode)$/,
    speech: /^streamFormat$/,
    transcriptions: /^(include\[\](\/\*)?|responseFormat|timestampGranularities(\[\])?(\/\*)?)$/,
  },
  'the way in which the answer is delivered, which the writer of the answer knows': {
    chat: /^streamOptions(\/includeUsage)?$/,
    completions: /^streamOptions(\/includeUsage)?$/,
    responses: /^streamOptions(\/includeObfuscation)?$/,
  },
  'a second marker of the same prefix': { chat: /\/cacheControl\// },
  'an order or a validator that only its vendor has': {
    contents: /(propertyOrdering(\/\*)?|thoughtSignature)$/,
  },
  'a tool that an item of the input adds as well': { responses: /^tools\/\*$/ },
  'ids, states and log probabilities of items that only their upstream has': {
    responses: /^input(\/\*)?\/(id|status|content\/\*\/logprobs)(\/|$)/,
  },
  'citations without a position': { 'cohere-chat': /^messages\/\*\/citations\// },
  'notes of a client about billing, which are not for the model': { messages: /^system\/\*/ },
  'fields of a document by which it is not ranked': { rerank: /^(documents\/\*\/|rankFields)/ },
}

/** Fields that state the kind of their object, and the model, which the path may state as well. */
const KINDS: ReadonlySet<string | number | undefined> = new Set(['type', 'role', 'model', 'stream'])

/** Returns the path of every value inside a value. */
function pathsIn(value: Json, at: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, item]) => {
    const path = [...at, Array.isArray(value) ? Number(key) : key]
    return [path, ...pathsIn(item, path)]
  })
}

const valueIn = (value: Json, [step, ...rest]: Path): Json =>
  step === undefined ? value : valueIn((value as JsonObject)[step]!, rest)

/** Returns a copy of the value without what is at the path. */
function without(value: Json, [step, ...rest]: Path): Json {
  if (Array.isArray(value))
    return rest.length === 0
      ? value.filter((_, index) => index !== step)
      : value.map((item, index) => (index === step ? without(item, rest) : item))
  const entries = Object.entries(value as JsonObject)
  return Object.fromEntries(
    rest.length === 0
      ? entries.filter(([key]) => key !== step)
      : entries.map(([key, item]) => [key, key === step ? without(item, rest) : item]),
  )
}

/** Whether a value says nothing, as an empty text, a switch that is off or an object of some kind with such fields. */
const isSilent = (value: Json): boolean =>
  value === null ||
  value === false ||
  value === '' ||
  value === 0 ||
  (typeof value === 'object' && Object.entries(value).every(([key, item]) => KINDS.has(key) || isSilent(item)))

const inCamelCase = (step: string | number): string =>
  typeof step === 'number' ? '*' : step.replace(/(?<=.)_([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** Objects that wrap a request whose tokens are counted. */
const WRAPPERS = /^(generateContentRequest|input\/converse)\//

const isUnread = (format: string, path: Path): boolean => {
  const name = path.map(inCamelCase).join('/').replace(WRAPPERS, '')
  return Object.values(UNREAD).some(rows => rows[format]?.test(name))
}

/** Fields that say the same as another one: a call whose id another call has gets a new one (trap 6). */
const REPEATABLE: ReadonlySet<unknown> = new Set(['id', 'call_id', 'query', 'queries'])

const isRepeatable = (path: Path): boolean => REPEATABLE.has(path.findLast(step => typeof step === 'string'))

const isRepeated = (body: Json, paths: readonly Path[], path: Path): boolean =>
  isRepeatable(path) &&
  paths.filter(other => isRepeatable(other) && valueIn(body, other) === valueIn(body, path)).length > 1

const withoutSpelling = (value: Json): Json =>
  Array.isArray(value)
    ? value.map(withoutSpelling)
    : isObject(value)
      ? Object.fromEntries(
          Object.entries(value)
            .filter(([key]) => key !== 'spelling')
            .map(([key, item]) => [key, withoutSpelling(item)]),
        )
      : value

describe('every field of a request is read', () => {
  it.each(formatsWith('request').filter(format => WIRES[format]!.request !== undefined))('%s', format => {
    const read = (body: JsonObject, wire: WireRequest) => {
      try {
        return JSON.stringify(withoutSpelling(plain(READERS[format]!.request!({ ...wire, body })) as never))
      } catch {
        return undefined
      }
    }
    holds(fc.tuple(WIRES[format]!.request, fc.nat()), ([wire, where]) => {
      const paths = pathsIn(wire.body)
      const path = paths[where % (paths.length + 1)]
      if (path === undefined || KINDS.has(path.at(-1)) || isSilent(valueIn(wire.body, path))) return
      if (isUnread(format, path) || isRepeated(wire.body, paths, path)) return
      const lacking = read(without(wire.body, path) as JsonObject, wire)
      expect(lacking, path.join('/')).not.toBe(read(wire.body, wire))
    })
  })
})
