import { describe, expect, it } from 'vitest'
import type { Part } from '../../src/canonical/content.ts'
import type { Path } from '../../src/canonical/loss.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import { workOf } from '../../src/canonical/work.ts'
import { READERS } from '../../src/ingress/index.ts'
import { formatsWith, holds } from './support.ts'
import { WIRES } from './wires.ts'

const at = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((one, step) => (one as { [step: string]: unknown } | undefined)?.[step], value)

/** Returns the text of a part that is in the body unchanged. */
const wordsOf = (part: Part): string | undefined =>
  part.type === 'text' ? part.text : part.type === 'tool-call' ? part.name : undefined

/** A list may be its only item, and a name may be written with underscores. Such bodies are compared less strictly. */
const camel = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(camel)
    : typeof value === 'object' && value !== null
      ? Object.fromEntries(Object.entries(value).map(([key, item]) => [camelKey(key), camel(item)]))
      : value
const camelKey = (key: string): string => key.replace(/(?<=.)_([a-z])/g, (_, letter: string) => letter.toUpperCase())

describe('locate: a path into the messages points at what the caller wrote there', () => {
  it.each(formatsWith('request').filter(format => READERS[format]!.locate !== undefined))('%s', format => {
    holds(WIRES[format]!.request, wire => {
      const request = READERS[format]!.request!(wire)
      const locate = READERS[format]!.locate!(request)
      if (workOf(request) === 'embedding') return
      const { generateContentRequest, ...own } = (format === 'contents' ? camel(wire.body) : wire.body) as JsonObject
      const counted = format === 'converse' ? (own['input'] as JsonObject | undefined)?.['converse'] : undefined
      const body = counted ?? generateContentRequest ?? own
      for (const [index, { content }] of request.messages.entries())
        for (const [place, part] of content.entries()) {
          const words = wordsOf(part)
          const found = at(body, locate(['messages', index, 'content', place]))
          if (words !== undefined) expect(JSON.stringify(found ?? null)).toContain(JSON.stringify(words).slice(1, -1))
        }
    })
  })
})
