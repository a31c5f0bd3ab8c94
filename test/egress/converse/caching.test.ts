import { describe, expect, test } from 'vitest'
import type { Part } from '../../../src/canonical/content.ts'
import type { CanonicalRequest, Message } from '../../../src/canonical/request.ts'
import { converse } from '../../../src/egress/converse/index.ts'
import { familyDialect } from '../../../src/formats/model-families.ts'
import { REQUEST } from '../../builders/requests.ts'
import { FOREIGN } from '../../builders/write-options.ts'

/* Cache points for callers that set none. */

const CLAUDE = familyDialect('converse', 'us.anthropic.claude-opus-4-8')!
const SAYS = { type: 'text', text: 'Hi.' } as const
const POINT = { cachePoint: { type: 'default' } }
const page: Part = {
  type: 'media',
  kind: 'file',
  source: { type: 'base64', mediaType: 'application/pdf', data: 'JQ==' },
}
const of = (role: Message['role'], ...content: Part[]): Message => ({ role, content })
const TURNS = [of('user', SAYS), of('assistant', SAYS), of('user', SAYS)]
const TOOLS = [{ type: 'function', name: 'f', parameters: { type: 'object' } }] as const

function written(request: Partial<CanonicalRequest>, dialect = CLAUDE) {
  const { wire, losses } = converse.request!({ ...REQUEST, messages: TURNS, ...request }, { ...FOREIGN, dialect })
  // biome-ignore lint/suspicious/noExplicitAny: tests look into the body
  return { body: wire.body as any, losses }
}
const pointsIn = (body: object): number => JSON.stringify(body).split('"cachePoint"').length - 1

describe('Claude on Bedrock', () => {
  test('caches the system text and the conversation so far', () => {
    const { body, losses } = written({ messages: [of('system', SAYS), ...TURNS], tools: TOOLS })
    expect(body.system).toEqual([{ text: 'Hi.' }, POINT])
    expect(body.messages.at(-1).content).toEqual([{ text: 'Hi.' }, POINT])
    expect(pointsIn(body)).toBe(2)
    expect(losses.filter(({ reason }) => reason === 'minted-cache-hint').map(({ path }) => path.join('.'))).toEqual([
      ...['messages.0.content.0.cache', 'messages.3.content.0.cache'],
    ])
  })

  test('caches the tools if there is no system text', () => {
    expect(written({ tools: TOOLS }).body.toolConfig.tools.at(-1)).toEqual(POINT)
  })

  test('caches nothing of a single message, of a count, and where the caller set points', () => {
    expect(pointsIn(written({ messages: [of('user', SAYS)] }).body)).toBe(0)
    expect(pointsIn(written({ output: { count: true } }).body)).toBe(0)
    const marked = of('user', { ...SAYS, cache: {} })
    expect(pointsIn(written({ messages: [marked, ...TURNS.slice(1)], tools: TOOLS }).body)).toBe(1)
  })

  test('has no point behind a document or an answer that is to be continued', () => {
    for (const last of [of('user', SAYS, page), of('assistant', SAYS)])
      expect(pointsIn(written({ messages: [...TURNS, last] }, { ...CLAUDE, prefill: true }).body)).toBe(0)
  })

  test('has the point of a marked document behind the next block that may precede one', () => {
    const marked = { ...page, cache: { ttl: '1h' } } as const
    const point = { cachePoint: { type: 'default', ttl: '1h' } }
    const { body, losses } = written({ messages: [of('user', marked, page, SAYS, SAYS)] })
    const [, , text, next] = body.messages[0].content
    expect([text, next, pointsIn(body)]).toEqual([{ text: 'Hi.' }, point, 1])
    const moved = losses.filter(({ reason }) => reason === 'no-point-behind-documents')
    expect(moved.map(({ kind, path }) => [kind, path.join('.')])).toEqual([
      ['dropped', 'messages.0.content.0.cache'],
      ['added', 'messages.0.content.2.cache'],
    ])
    for (const messages of [[of('user', marked, { ...SAYS, cache: {} })], [of('user', SAYS, marked)]]) {
      const { content } = written({ messages }).body.messages[0]
      for (const [index, block] of content.entries())
        if (block.cachePoint !== undefined) expect(content[index - 1]).toEqual({ text: 'Hi.' })
    }
  })

  test('caches as the caller’s automatic caching says', () => {
    const { body, losses } = written({ cache: { ttl: '1h' }, messages: [of('user', SAYS)] })
    expect(body.messages[0].content).toEqual([{ text: 'Hi.' }, { cachePoint: { type: 'default', ttl: '1h' } }])
    expect(losses.filter(loss => !('restored' in loss) || loss.restored !== true).map(({ kind }) => kind)).toEqual([
      'added',
    ])
  })
})

test('models that take no points get none, and automatic caching is a loss', () => {
  expect(pointsIn(written({ tools: TOOLS }, { cache: 'auto' }).body)).toBe(0)
  expect(pointsIn(written({ tools: TOOLS }, familyDialect('converse', 'us.amazon.nova-2-lite-v1:0')).body)).toBe(0)
  expect(written({ cache: {} }, {}).losses).toMatchObject([{ path: ['cache'], reason: 'no-automatic-caching' }])
})
