import { hasFields } from '../../canonical/exact-numbers.ts'
import { getOrAdd } from '../../canonical/maps.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { Redaction } from './redaction.ts'

/*
 * Lists of tokens with their log probabilities. A token is a few characters long, so that a secret is spelled over
 * several of them, and repeated by their bytes and among their alternatives.
 */

/** A list of tokens in one of the values. */
interface TokenList {
  readonly items: readonly Json[]
  readonly tokens: readonly string[]
}

/** The new texts of the tokens of a list. */
type NewTokens = ReadonlyMap<readonly Json[], readonly string[]>

/**
 * Redacts the tokens of answers or of a stream's events. Tokens of the same part of successive events are joined.
 * Returns the same values if there is nothing to redact.
 */
export function withRedactedTokens(values: readonly (Json | undefined)[], redaction: Redaction): typeof values {
  const listsByPart = new Map<string, TokenList[]>()
  for (const value of values) if (value !== undefined) eachList(value, '', listsByPart)
  if (listsByPart.size === 0) return values
  const newTokens = new Map<readonly Json[], readonly string[]>()
  for (const lists of listsByPart.values()) {
    const pieces = lists.flatMap(({ tokens }) => tokens)
    const redacted = redaction.pieces(pieces)
    if (redacted.every((piece, index) => piece === pieces[index])) continue
    let start = 0
    for (const { items, tokens } of lists) newTokens.set(items, redacted.slice(start, (start += tokens.length)))
  }
  return newTokens.size === 0 ? values : values.map(value => value && withNewTokens(value, newTokens))
}

/** Adds every list of tokens in a value to the lists of its part, which its path and its indexes identify. */
function eachList(value: Json, part: string, lists: Map<string, TokenList[]>): void {
  if (Array.isArray(value)) {
    const tokens = tokensIn(value)
    if (tokens === undefined) for (const item of value) eachList(item, part, lists)
    else getOrAdd(lists, part, (): TokenList[] => []).push({ items: value, tokens })
  } else if (hasFields(value)) {
    const inner = part + INDEXES.map(name => (typeof value[name] === 'number' ? `${name}${value[name]}` : '')).join('')
    for (const [name, item] of Object.entries(value))
      if (name === 'tokens' && isTexts(item))
        getOrAdd(lists, `${inner}.${name}`, (): TokenList[] => []).push({ items: item, tokens: item })
      else if (typeof item === 'object' && item !== null && !ALTERNATIVES.has(name))
        eachList(item, `${inner}.${name}`, lists)
  }
}

/** Fields that distinguish the parts of an answer. */
const INDEXES = ['index', 'output_index', 'content_index'] as const
/** Fields with the alternatives of each token. They spell no text. */
const ALTERNATIVES: ReadonlySet<string> = new Set(['top_logprobs', 'topCandidates', 'top_candidates'])

const isTexts = (value: Json): value is string[] =>
  Array.isArray(value) && value.length > 0 && value.every(item => typeof item === 'string')

const tokenOf = (item: Json): string | undefined =>
  isObject(item) && typeof item['token'] === 'string' ? item['token'] : undefined

/** Returns the tokens of a list whose items are all tokens. */
function tokensIn(items: readonly Json[]): readonly string[] | undefined {
  const tokens = items.map(tokenOf)
  return tokens.length > 0 && tokens.every(token => token !== undefined) ? tokens : undefined
}

function withNewTokens(value: Json, newTokens: NewTokens): Json {
  if (Array.isArray(value)) {
    const tokens = newTokens.get(value)
    if (tokens === undefined) return value.map(item => withNewTokens(item, newTokens))
    return value.map((item, index) =>
      typeof item === 'string' ? tokens[index]! : withToken(item as JsonObject, tokenOf(item)!, tokens[index]!),
    )
  }
  if (!hasFields(value)) return value
  const changed = Object.entries(value).map(([name, item]) => [name, withNewTokens(item, newTokens)] as const)
  const copy: { [name: string]: Json } = Object.fromEntries(changed)
  for (const [list, alternatives] of BESIDE) {
    const [items, beside] = [value[list], copy[alternatives]]
    const tokens = Array.isArray(items) ? newTokens.get(items) : undefined
    if (tokens === undefined || !Array.isArray(beside)) continue
    const old = (items as readonly Json[]).map(item => (typeof item === 'string' ? item : tokenOf(item)!))
    copy[alternatives] = beside.map((one, index) => withoutAlternative(one, old[index], tokens[index]))
  }
  return copy
}

/** Lists of tokens, and the lists beside them with the alternatives at each position. */
const BESIDE = [
  ['tokens', 'top_logprobs'],
  ['chosenCandidates', 'topCandidates'],
  ['chosen_candidates', 'top_candidates'],
] as const

/** Replaces a token, its bytes, and the token among its own alternatives. */
function withToken(item: JsonObject, old: string, token: string): JsonObject {
  if (old === token) return item
  const alternatives = item['top_logprobs']
  return {
    ...item,
    token,
    ...(Array.isArray(item['bytes']) ? { bytes: [...Buffer.from(token)] } : {}),
    ...(Array.isArray(alternatives)
      ? {
          top_logprobs: alternatives.map(one =>
            tokenOf(one) === old ? withToken(one as JsonObject, old, token) : one,
          ),
        }
      : {}),
  }
}

/** Replaces a token among the alternatives of one position: a list of candidates, or probabilities by token. */
function withoutAlternative(alternatives: Json, old: string | undefined, token: string | undefined): Json {
  if (old === undefined || token === undefined || old === token || !isObject(alternatives)) return alternatives
  const { candidates } = alternatives
  if (Array.isArray(candidates))
    return {
      ...alternatives,
      candidates: candidates.map(one => (tokenOf(one) === old ? withToken(one as JsonObject, old, token) : one)),
    }
  return Object.fromEntries(Object.entries(alternatives).map(([name, one]) => [name === old ? token : name, one]))
}
