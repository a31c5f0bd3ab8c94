import { describe, it } from 'vitest'
import { isObject } from '../../src/canonical/node.ts'
import { READERS } from '../../src/ingress/index.ts'
import { meaning } from './same.ts'
import { holds, plain, same } from './support.ts'
import { request } from './wire/contents.ts'

/*
 * Protobuf's JSON has two names for every field, and clients write either (pydantic-ai writes snake_case everywhere,
 * trap 104).
 */

const snake = (name: string): string => name.replace(/(?<=[a-z0-9])[A-Z]/g, letter => `_${letter.toLowerCase()}`)
const camel = (name: string): string =>
  name.replace(/(?<=[a-zA-Z])_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())

/** Fields with free JSON, whose keys are the caller's own. */
const FREE = new Set([
  'args',
  'response',
  'labels',
  'parametersJsonSchema',
  'responseJsonSchema',
  '_responseJsonSchema',
])

/** Returns the value with all its fields renamed. In free JSON, only the keywords of schemas are renamed. */
function cased(value: unknown, name: (key: string) => string): unknown {
  if (Array.isArray(value)) return value.map(item => cased(item, name))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      if (FREE.has(camel(key))) return [name(key), item]
      if (key === 'properties' && isObject(item))
        return [key, Object.fromEntries(Object.entries(item).map(([own, one]) => [own, cased(one, name)]))]
      return [name(key), cased(item, name)]
    }),
  )
}

/** Returns the value with everything in camelCase, including values that only the format itself knows. */
const blind = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(blind)
    : isObject(value)
      ? Object.fromEntries(Object.entries(value).map(([key, item]) => [camel(key), blind(item)]))
      : value

describe('trap 104: a request in snake_case says what it says in camelCase', () => {
  it('contents', () => {
    holds(request, wire => {
      const read = (name: (key: string) => string) =>
        blind(plain(meaning(READERS['contents']!.request!({ ...wire, body: cased(wire.body, name) as never }))))
      same(read(snake), read(camel))
    })
  })
})
