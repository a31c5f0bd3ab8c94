import { append } from '../canonical/lists.ts'
import type { Path } from '../canonical/loss.ts'
import { type Format, isObject, type Json, type JsonObject, wireSourceOf } from '../canonical/node.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { WireRequest } from '../canonical/wire.ts'
import type { BodyFields } from './body-fields.ts'
import type { Locate } from './locate.ts'
import type { Reader } from './reader.ts'

/**
 * Maps paths in a canonical request to paths in the caller's body, so that callers can find a reported loss. The result
 * is the path of the smallest value in the body that contains the canonical value. If the caller left the field out,
 * the result is the path that the field would have.
 */
export function bodyPaths(reader: Reader, format: Format, request: CanonicalRequest): Locate {
  const body = wireSourceOf<WireRequest>(request, format)?.wire.body
  if (body === undefined) return reader.locate?.(request) ?? identity
  const root = reader.root?.(body) ?? []
  const inner = at(body, root)
  const requestBody = isObject(inner) ? inner : body
  const locate = reader.locate?.(request) ?? identity
  let tools: readonly Path[] | undefined
  const below = (path: Path): Path => {
    const [field, index, ...rest] = path
    if (field === 'messages') return inMessage(requestBody, path, locate)
    if (field === 'tools' && typeof index === 'number') {
      tools ??= reader.toolPaths?.(requestBody)
      const start = tools?.[index] ?? ['tools', index]
      return inside(requestBody, start, rest)
    }
    return inField(requestBody, path, reader.fields ?? {})
  }
  return path => {
    const found = below(path)
    if (root.length === 0) return found
    const field = path.at(-1)!
    return path[0] === 'output' && path[1] === 'extras' && has(body, field) ? [field] : [...root, ...found]
  }
}

/** Leaves paths unchanged. */
const identity: Locate = path => path

/** Maps a path inside a message: first to the part, then to the field inside the part. */
function inMessage(body: JsonObject, path: Path, locate: Locate): Path {
  const isPart = path[2] === 'content' && typeof path[3] === 'number'
  const length = isPart ? 4 : Math.min(path.length, path[2] === 'content' ? 3 : 2)
  return inside(body, locate(path.slice(0, length)), path.slice(length))
}

/** Maps the path of a setting: the longest prefix listed in `fields`, then the remaining steps below it. */
function inField(body: JsonObject, path: Path, fields: BodyFields): Path {
  const steps = path.filter((_, index) => path[index - 1] !== 'extras')
  for (let length = steps.length; length > 0; length--) {
    const name = steps.slice(0, length).join('/')
    if (!Object.hasOwn(fields, name)) continue
    const known = fields[name]!
    const rest = steps.slice(length)
    const paths = known.map(one => one.split('/'))
    return inside(body, paths.find(one => isIn(body, one)) ?? paths[0]!, rest)
  }
  if (steps[0] === 'extras') return inside(body, [], steps)
  return firstBelow(body, steps.join('/'), fields) ?? path
}

/** Returns the path of the first setting of a group that the body contains. */
function firstBelow(body: JsonObject, group: string, fields: BodyFields): Path | undefined {
  for (const name in fields) {
    const found = name.startsWith(`${group}/`) ? fields[name]!.find(one => isIn(body, one.split('/'))) : undefined
    if (found !== undefined) return inWireSpelling(body, found.split('/'))
  }
  return undefined
}

const isIn = (body: JsonObject, path: Path): boolean => {
  const found = inWireSpelling(body, path)
  return found.length === path.length && at(body, found) != null
}

/** Extends `start`, a path in the body, by the canonical steps in `rest`, as far as the body has them. */
function inside(body: JsonObject, start: Path, rest: Path): Path {
  const spelledStart = inWireSpelling(body, start)
  if (spelledStart.length < start.length) {
    // A message inserted at the end has the index after the last one.
    const list = at(body, spelledStart)
    const isEnd = Array.isArray(list) && spelledStart.length === 1 && start.length === 2 && start[1] === list.length
    return spelledStart.length === 0 || isEnd ? start : spelledStart
  }
  const path = [...spelledStart]
  let value = at(body, path)
  for (let index = 0; index < rest.length; index++) {
    const step = rest[index]!
    // Skip the format's name after `extras`, if the path has one.
    if (step === 'extras') {
      if (index + 1 < rest.length && index + 2 < rest.length && !has(value, rest[index + 1]!)) index++
      continue
    }
    const next = typeof step === 'number' ? stepToItem(value, step) : stepToField(value, step)
    if (next === undefined) break
    append(path, next)
    value = at(value, next)
  }
  return path
}

const has = (value: Json | undefined, step: string | number): boolean =>
  isObject(value) && Object.hasOwn(value, String(step))

/** Returns the step to a list item. A value that is not a list counts as its only item. */
const stepToItem = (value: Json | undefined, index: number): Path | undefined =>
  Array.isArray(value) ? (index < value.length ? [index] : undefined) : index === 0 ? [] : undefined

/** Finds the wire field for a canonical field: in the object, or one level deeper in one of its objects. */
function stepToField(value: Json | undefined, step: string): Path | undefined {
  if (!isObject(value)) return undefined
  const direct = fieldOf(value, step)
  if (direct !== undefined) return [direct]
  for (const field in value) {
    const innerObject = value[field]
    const found = isObject(innerObject) ? fieldOf(innerObject, step) : undefined
    if (found !== undefined) return [field, found]
  }
  return undefined
}

function fieldOf(value: JsonObject, step: string): string | undefined {
  if (Object.hasOwn(value, step)) return step
  const names = [normalizedName(step), ...(Object.hasOwn(WIRE_NAMES, step) ? WIRE_NAMES[step]! : [])]
  const fields = Object.keys(value)
  for (const name of names) {
    const found = fields.find(field => normalizedName(field) === name && value[field] != null)
    if (found !== undefined) return found
  }
  return undefined
}

const normalizedName = (name: string): string => name.replaceAll(/[_-]/g, '').toLowerCase()

/** Wire names of canonical fields in messages and tools, without underscores and in lower case. */
const WIRE_NAMES: { readonly [field: string]: readonly string[] } = {
  cache: ['cachecontrol', 'promptcachebreakpoint'],
  source: ['imageurl', 'videourl', 'inputaudio', 'file', 'documenturl', 'inlinedata', 'filedata', 'fileid', 'url'],
  mediaType: ['mimetype', 'format'],
  name: ['filename', 'title', 'displayname'],
  id: ['callid', 'toolcallid', 'tooluseid'],
  arguments: ['input', 'args'],
  failed: ['iserror'],
  signature: ['thoughtsignature', 'encryptedcontent', 'data'],
  text: ['thinking', 'refusal', 'summary'],
  annotations: ['citations', 'citationmetadata'],
  parameters: ['inputschema', 'parametersjsonschema'],
  grammar: ['format'],
  contextSize: ['searchcontextsize'],
  location: ['userlocation'],
  blockedDomains: ['excludedomains'],
  detail: ['mediaresolution'],
}

/**
 * Replaces the field names in a path by their spelling in the body, as far as the body has the path. Google's JSON also
 * accepts field names in snake_case.
 */
function inWireSpelling(body: JsonObject, path: Path): Path {
  const out: (string | number)[] = []
  let value: Json | undefined = body
  for (const step of path) {
    const next: Path | undefined =
      typeof step === 'number' ? stepToItem(value, step) : isObject(value) ? spelledField(value, step) : undefined
    if (next === undefined) return out.length === 0 ? [] : out
    append(out, next)
    value = at(value, next)
  }
  return out
}

function spelledField(value: JsonObject, step: string): Path | undefined {
  if (Object.hasOwn(value, step)) return [step]
  const name = normalizedName(step)
  // Forms write an object's field in brackets after the object's name.
  const found = Object.keys(value).find(field => normalizedName(field) === name || field.startsWith(`${step}[`))
  return found === undefined ? undefined : [found]
}

function at(value: Json | undefined, path: Path): Json | undefined {
  let found = value
  for (const step of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, step)) return undefined
    found = (found as { readonly [step: string]: Json })[step]
  }
  return found
}
