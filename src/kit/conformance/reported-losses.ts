import type { RequestOnWire } from './format.ts'
import { isObject, type Json, listOf, objectOf, parseJson } from './json.ts'

/* Losses that a target names in its header, and the facts that each name excuses. A name excuses nothing else. */

type Leaves = ReadonlyMap<string, Json>

/** Path of a lost field, such as `messages`, `3`, `reasoning_content`. */
export type LossName = readonly string[]

/** Returns true if the target reported the loss of a fact. */
export type IsReported = (fact: string) => boolean

export const NOTHING_REPORTED: IsReported = () => false

/** Maximum number of names that are read. */
const MAX_NAMES = 100
/** Maximum length of a name, in characters. */
const MAX_LENGTH = 500

/** Step of a name that stands for every field or item. */
const EVERY = new Set(['*', ''])

function decoded(step: string): string {
  try {
    return decodeURIComponent(step)
  } catch {
    return step
  }
}

/** Returns the steps of a name, which slashes separate, or else dots and brackets. */
function stepsOf(name: string): LossName {
  if (name.includes('/'))
    return name
      .replace(/^[#$]?\//, '')
      .split('/')
      .map(decoded)
  return name.replace(/^\$/, '').replaceAll('[', '.').replaceAll(']', '').replace(/^\./, '').split('.')
}

/** Returns all texts in a JSON value. */
const textsIn = (value: Json): string[] =>
  typeof value === 'string' ? [value] : Object.values(isObject(value) ? value : listOf(value)).flatMap(textsIn)

/**
 * Reads the names in the values of a loss header or trailer: a list that semicolons or commas separate, in which the
 * first word of each entry is the name. Events of sockets are JSON with such entries.
 */
export function lossNames(...values: readonly (string | undefined)[]): readonly LossName[] {
  const entries = values.flatMap((value = '') => {
    const json = value.startsWith('{') ? parseJson(`[${value}]`) : undefined
    return (json === undefined ? [value] : textsIn(json)).flatMap(text => text.split(/[;,]/, MAX_NAMES))
  })
  return entries.slice(0, MAX_NAMES).flatMap(entry => {
    const [name = ''] = entry.trim().slice(0, MAX_LENGTH).split(/\s/, 1)
    const steps = stepsOf(name)
    // A number alone is a count.
    return EVERY.has(steps[0]!) || /^\d+$/.test(steps[0]!) ? [] : [steps]
  })
}

/** Returns a value without what a name names, or the value itself if it has no such field or item. */
function without(value: Json, [step = '', ...rest]: LossName): Json {
  // A number in an object counts the items of its only list, as in `content/2` for `content.parts[2]`.
  const lists =
    isObject(value) && /^\d+$/.test(step) ? Object.entries(value).filter(([, one]) => Array.isArray(one)) : []
  if (isObject(value) && lists.length === 1) return without(value, [lists[0]![0], step, ...rest])
  if (!isObject(value) && !Array.isArray(value)) return value
  const kept = Object.entries(value as JsonLike).flatMap(([name, one]): [string, Json][] => {
    if (name !== step && !EVERY.has(step)) return [[name, one]]
    // A name may lead into a text, as into the only part of a content.
    if (rest.length === 0 || typeof one === 'string') return []
    return [[name, without(one, rest)]]
  })
  return Array.isArray(value) ? kept.map(([, one]) => one) : Object.fromEntries(kept)
}

type JsonLike = { readonly [name: string]: Json }

/** Returns the paths of facts that differ between two messages. */
const differing = (one: Leaves, other: Leaves): string[] =>
  [...new Set([...one.keys(), ...other.keys()])].filter(
    path => JSON.stringify(one.get(path)) !== JSON.stringify(other.get(path)),
  )

/** Facts that only follow from others of their message: the pattern of each, and of those that it follows from. */
const FOLLOWING_FACTS: readonly (readonly [fact: RegExp, from: RegExp])[] = [
  [/^reasoning\.wanted$/, /^reasoning\.(effort|budget)$/],
  // A tool is only deferred where the model can search for it.
  [/^tools\..+\.deferred$/, /^tools\.tool-search\.kind$/],
  [/^(turns|candidates)\[\d+\]\.order$/, /^(turns|candidates)\[\d+\]\.(text|refusal|calls|results|media|reasoning)\b/],
  // A signature is lost with the reasoning that it signs, even if it stands at the part after it.
  [/^turns\[\d+\]\.(calls|reasoning)\[\d+\]\.signature$/, /^turns\[\d+\]\.reasoning\[\d+\]\.(text|signature)$/],
]

const OWNER = /^(turns|candidates)\[\d+\]/

/** Returns true if two facts belong to the same turn or candidate, or to none. */
const hasSameOwner = (one: string, other: string): boolean => OWNER.exec(one)?.[0] === OWNER.exec(other)?.[0]

function isExcused(fact: string, excused: ReadonlySet<string>): boolean {
  if (excused.has(fact)) return true
  const from = FOLLOWING_FACTS.filter(([pattern]) => pattern.test(fact)).map(([, one]) => one)
  return from.some(pattern => [...excused].some(one => pattern.test(one) && hasSameOwner(one, fact)))
}

/** Returns a request without what a name names: a field, an item or the file of a form. */
function requestWithout(request: RequestOnWire, name: LossName): RequestOnWire {
  const { body, files } = request
  return {
    ...request,
    body: objectOf(without(body, name)),
    files: files?.filter(({ field }) => field !== name[0]),
  }
}

/** Returns which facts of a request its target reported as lost. `factsOf` reads the facts of the caller's format. */
export function reportedInRequest(
  names: readonly LossName[],
  requests: readonly RequestOnWire[],
  factsOf: (request: RequestOnWire) => Leaves,
): IsReported {
  if (names.length === 0) return NOTHING_REPORTED
  const excused = new Set(
    requests.flatMap(request => {
      const all = factsOf(request)
      return names.flatMap(name => differing(all, factsOf(requestWithout(request, name))))
    }),
  )
  return fact => isExcused(fact, excused)
}

/**
 * Returns true if a name is that of a fact: the same first step, index and last step, as in `candidates/0/signature`, or
 * ends with the group of the fact, as `candidates/0/content/0/made` for `made.size`.
 */
function namesFact(name: LossName, fact: string): boolean {
  const steps = fact.split(/[.[\]]+/).filter(Boolean)
  const [head, index] = steps
  if (steps.length > 1 && !/^\d+$/.test(index!) && name.at(-1) === head) return true
  if (name[0] !== head || (/^\d+$/.test(index ?? '') && name.length > 1 && name[1] !== index)) return false
  return name.length === 1 || name.at(-1) === steps.findLast(step => !/^\d+$/.test(step))
}

/**
 * Returns which facts of an answer its target reported as lost: those that the upstream's answer has at the named path,
 * or that have the name themselves.
 */
export function reportedInAnswer(
  names: readonly LossName[],
  answer?: Json,
  factsOf: (answer: Json) => Leaves = () => new Map(),
): IsReported {
  if (names.length === 0) return NOTHING_REPORTED
  const all = answer === undefined ? undefined : factsOf(answer)
  const excused = new Set(
    all === undefined ? [] : names.flatMap(name => differing(all, factsOf(without(answer!, name)))),
  )
  return fact => isExcused(fact, excused) || names.some(name => namesFact(name, fact))
}
