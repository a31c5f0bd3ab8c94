import * as v from 'valibot'
import { rowOf } from '../../../canonical/maps.ts'
import { defined, type Json } from '../../../canonical/node.ts'
import type { ArrivedRequest } from '../recorded-request.ts'
import type { ArrivedAnswer } from '../recorder.ts'
import { FOREIGN_STATUS } from '../recording.ts'
import type { ForeignExchange, ForeignFile, Skipped } from './exchange.ts'

/* Fixture files of aimock: https://github.com/CopilotKit/aimock. */

const text = v.string('expected a string')
const number = v.number('expected a number')
const object = <E extends v.ObjectEntries>(entries: E) =>
  v.object(entries, issue =>
    issue.path === undefined || issue.expected === 'Object' ? 'expected an object' : 'is missing',
  )

/** A text, or JSON that stands for its text. */
const JSON_OR_TEXT = v.union(
  [text, v.array(v.unknown()), v.record(v.string(), v.unknown())],
  'expected a string or JSON',
)

const CALL = object({ name: text, arguments: JSON_OR_TEXT, id: v.optional(text) })

const RESPONSE = object({
  content: v.optional(JSON_OR_TEXT),
  toolCalls: v.optional(v.array(CALL, 'expected a list')),
  embedding: v.optional(v.array(number, 'expected a list of numbers')),
  error: v.optional(v.looseObject({ message: text })),
  ...{ status: v.optional(FOREIGN_STATUS), id: v.optional(text), model: v.optional(text), created: v.optional(number) },
  ...{ finishReason: v.optional(text), usage: v.optional(v.record(v.string(), v.unknown())) },
  reasoning: v.optional(text),
})

export const FIXTURES = object({
  fixtures: v.array(
    object({ match: v.record(v.string(), v.unknown(), 'expected an object'), response: RESPONSE }),
    'expected a list',
  ),
})

type Fixture = v.InferOutput<typeof FIXTURES>['fixtures'][number]
type Response = Fixture['response']

/** Criteria that the request of a first turn meets, or that order equal requests. */
const FULFILLED_CRITERIA: { readonly [criterion: string]: (value: unknown) => boolean } = {
  userMessage: value => typeof value === 'string',
  inputText: value => typeof value === 'string',
  model: value => typeof value === 'string',
  sequenceIndex: value => typeof value === 'number',
  turnIndex: value => value === 0,
  hasToolResult: value => value === false,
  endpoint: value => value === 'chat' || value === 'embedding',
}

/** Fields that a fixture does not state, and that are therefore left out of the comparison. */
const UNSTATED_FIELDS = [
  'tools',
  'toolChoice',
  'parallelToolCalls',
  'output',
  'sampling',
  'reasoning',
  'state',
  'endUser',
]
const MORE_UNSTATED_FIELDS = ['metadata', 'serviceTier', 'extras']

/**
 * Converts fixtures to exchanges in chat or embeddings format. A fixture states criteria rather than a request, so only
 * the first turn of a conversation can be created from it. Other turns are skipped.
 */
export function fixtureExchanges(fixtures: readonly Fixture[], at: Date): ForeignFile {
  const exchanges: ForeignExchange[] = []
  const skipped: Skipped[] = []
  const ordered = [...fixtures.entries()].sort(([, a], [, b]) => orderOf(a) - orderOf(b))
  for (const [index, { match, response }] of ordered) {
    const unknown = Object.keys(match).find(name => rowOf(FULFILLED_CRITERIA, name)?.(match[name]) !== true)
    const path = ['fixtures', index, 'match', ...(unknown === undefined ? [] : [unknown])]
    const prompt = match['userMessage'] ?? match['inputText']
    if (unknown !== undefined) skipped.push({ path, reason: 'a recording cannot express this criterion' })
    else if (typeof prompt !== 'string')
      skipped.push({ path, reason: 'the fixture names neither userMessage nor inputText' })
    else {
      const answer = answerOf(response, prompt)
      if (answer === undefined)
        skipped.push({
          path: ['fixtures', index, 'response'],
          reason: 'only texts, calls, embeddings and errors are imported',
        })
      else exchanges.push({ ...exchangeOf(match, answer), at })
    }
  }
  return { exchanges, skipped }
}

const orderOf = ({ match: { sequenceIndex } }: Fixture): number =>
  typeof sequenceIndex === 'number' ? sequenceIndex : 0

function exchangeOf(match: Fixture['match'], answer: ArrivedAnswer): Omit<ForeignExchange, 'at'> {
  const { model, userMessage, inputText } = match
  const modelName = typeof model === 'string' ? model : 'any'
  const request =
    userMessage === undefined
      ? requestTo('/v1/embeddings', { model: modelName, input: String(inputText) })
      : requestTo('/v1/chat/completions', {
          model: modelName,
          messages: [{ role: 'user', content: String(userMessage) }],
        })
  return {
    request,
    answer,
    ignore: [...UNSTATED_FIELDS, ...MORE_UNSTATED_FIELDS, ...(typeof model === 'string' ? [] : ['model'])],
  }
}

const requestTo = (url: string, body: Json): ArrivedRequest => ({
  ...{ method: 'POST', url, headers: { 'content-type': 'application/json' } },
  body: Buffer.from(JSON.stringify(body)),
})

function answerOf(response: Response, prompt: string): ArrivedAnswer | undefined {
  const { error, embedding, content, toolCalls, status = 200, model = 'aimock' } = response
  if (error !== undefined) return jsonAnswer(status === 200 ? 500 : status, { error })
  const usage = response.usage ?? { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }
  if (embedding !== undefined)
    return jsonAnswer(200, { object: 'list', data: [{ object: 'embedding', index: 0, embedding }], model, usage })
  if (content === undefined && toolCalls === undefined) return undefined
  const calls = toolCalls?.map(({ id, name, arguments: args }, index) => ({
    id: id ?? `call_${prompt.length}_${index}`,
    type: 'function',
    function: { name, arguments: typeof args === 'string' ? args : JSON.stringify(args) },
  }))
  const answerText = content === undefined || typeof content === 'string' ? (content ?? null) : JSON.stringify(content)
  const message = defined({
    role: 'assistant',
    content: answerText,
    reasoning_content: response.reasoning,
    tool_calls: calls,
  })
  const finish_reason = response.finishReason ?? (calls === undefined ? 'stop' : 'tool_calls')
  return jsonAnswer(status, {
    ...{ id: response.id ?? 'chatcmpl-aimock', object: 'chat.completion', created: response.created ?? 0, model },
    ...{ choices: [{ index: 0, message, finish_reason }], usage },
  })
}

const jsonAnswer = (status: number, body: object): ArrivedAnswer => ({
  ...{ status, headers: { 'content-type': 'application/json' }, ms: 0, isComplete: true },
  chunks: [{ ms: 0, bytes: Buffer.from(JSON.stringify(body)) }],
})
