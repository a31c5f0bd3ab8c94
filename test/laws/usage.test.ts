import { describe, it } from 'vitest'
import { unfold } from '../../src/canonical/fold.ts'
import { isObject, type JsonObject } from '../../src/canonical/node.ts'
import type { CanonicalResult } from '../../src/canonical/result.ts'
import { drain } from '../../src/canonical/transducer.ts'
import { workOf } from '../../src/canonical/work.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { FORMAT_FACTS as FORMATS_OF } from '../../src/formats/index.ts'
import { READERS } from '../../src/ingress/index.ts'
import { formatsWith, holds, plain, same } from './support.ts'
import { ANSWERS } from './wires.ts'

/* Trap 97: the parts of a written usage add up to its total, however the upstream counted. */

/** Names of a format's parts of the usage, and of their sum. */
interface Parts {
  readonly parts: readonly string[]
  readonly total: string
}

const OLD: Parts = { parts: ['prompt_tokens', 'completion_tokens'], total: 'total_tokens' }
const NEW: Parts = { parts: ['input_tokens', 'output_tokens'], total: 'total_tokens' }
const PARTS: { readonly [format: string]: Parts } = {
  ...{ chat: OLD, completions: OLD, embeddings: OLD },
  ...{ responses: NEW, images: NEW, speech: NEW, transcriptions: NEW },
  messages: {
    parts: ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens', 'output_tokens'],
    total: 'none',
  },
  contents: {
    parts: ['promptTokenCount', 'toolUsePromptTokenCount', 'candidatesTokenCount', 'thoughtsTokenCount'],
    total: 'totalTokenCount',
  },
  interactions: {
    parts: ['total_input_tokens', 'total_tool_use_tokens', 'total_output_tokens', 'total_thought_tokens'],
    total: 'total_tokens',
  },
  converse: {
    parts: ['inputTokens', 'cacheReadInputTokens', 'cacheWriteInputTokens', 'outputTokens'],
    total: 'totalTokens',
  },
  // Input and output have no sum, and stand in two groups.
  'cohere-chat': { parts: [], total: 'none' },
  // A ranking has only a prompt, which is seldom counted separately.
  ...{ rerank: { parts: [], total: 'none' }, cohere: { parts: [], total: 'none' } },
}

/** Returns all usages in a written value. */
function usagesIn(value: unknown): JsonObject[] {
  if (Array.isArray(value)) return value.flatMap(usagesIn)
  if (!isObject(value as never)) return []
  return Object.entries(value as JsonObject).flatMap(([key, one]) =>
    /^usage(?:Metadata)?$/.test(key) && isObject(one) ? [one] : usagesIn(one),
  )
}

/** Returns the parts of a usage that do not add up. Undefined if they do. */
function fault(format: string, usage: JsonObject): object | undefined {
  const { parts, total } = PARTS[format]!
  const counts = parts.map(part => usage[part] ?? 0)
  const sum = counts.reduce((a: number, b) => a + Number(b), 0)
  const sound = counts.every(count => Number.isSafeInteger(count) && Number(count) >= 0)
  return sound && (usage[total] === undefined || usage[total] === sum) ? undefined : { usage, sum }
}

const sumOf = ({ usage }: CanonicalResult): number => (usage?.input ?? 0) + (usage?.output ?? 0)

describe('usage: parts add up to the total in every other format, complete and streamed', () => {
  it.each(ANSWERS)('of %s', (_, from, answers, asked) => {
    const work = workOf(asked)
    const others = formatsWith('result').filter(to => to !== from && FORMATS_OF.get(to)!.does.includes(work))
    holds(answers, body => {
      let read: CanonicalResult
      try {
        read = READERS[from]!.result!({ status: 200, headers: {}, body }, asked)
      } catch {
        return
      }
      if (read.usage === undefined) return
      const result = { id: 'id', model: 'm', createdAt: 1, ...read }
      for (const to of others) {
        const { wire } = WRITERS[to]!.result!(result, asked)
        const events = WRITERS[to]!.events?.({ ...asked, stream: true })
        const streamed = events === undefined ? [] : drain(events, unfold(result))
        const told = [
          ...usagesIn(plain(wire).body),
          ...streamed.flatMap(({ data }) => (data.startsWith('{') ? usagesIn(JSON.parse(data)) : [])),
        ]
        for (const usage of told) same(fault(to, usage), undefined)
      }
    })
  })
})

describe('usage: a total that agrees with one way of counting tells which', () => {
  const tokens = (input: number, output: number, total: number | undefined, cached = 0, reasoning = 0) => ({
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: total,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens_details: { reasoning_tokens: reasoning },
  })
  const read = (usage: object): CanonicalResult =>
    READERS['chat']!.result!(
      { status: 200, headers: {}, body: plain({ choices: [], usage }) as JsonObject },
      {
        model: 'm',
        messages: [],
        output: {},
        sampling: {},
        stream: false,
      },
    )

  it.each<[string, object, number, number]>([
    ['thoughts inside, as at OpenAI', tokens(12, 229, 241, 2, 228), 12, 229],
    ['thoughts beside, as at xAI', tokens(12, 1, 241, 2, 228), 12, 229],
    [
      'thoughts that are told by the total alone, as at the chat door of Google',
      { ...tokens(8, 7, 312), completion_tokens_details: undefined },
      8,
      304,
    ],
    ['what the cache held beside', tokens(10, 5, 115, 100), 110, 5],
    ['both beside', tokens(10, 5, 145, 100, 30), 110, 35],
    ['more thoughts than completion, and no total', tokens(12, 1, undefined, 0, 228), 12, 229],
    ['more in the cache than in the prompt, and no total', tokens(10, 5, undefined, 100), 110, 5],
    ['a total that is too small', tokens(10, 5, 3), 10, 5],
    ['no completion', { prompt_tokens: 5, total_tokens: 12 }, 5, 7],
    ['a total alone', { total_tokens: 12 }, 12, 0],
  ])('trap 97: %s', (_, usage, input, output) => {
    const result = read(usage)
    same([result.usage!.input ?? 0, result.usage!.output ?? 0], [input, output])
    same(sumOf(result), input + output)
  })
})
