import { describe, expect, test } from 'vitest'
import type { ModelFacts } from '../../src/config/index.ts'
import { ASK, hello, helloWhole } from '../builders/chat.ts'
import { opener, type Row } from '../builders/opener.ts'
import { CHAT_PATH } from '../builders/paths.ts'

const named = (upstream: string) => ({ named: new Map([['m', upstream]]), patterns: [] })
const PRICED: ModelFacts = { id: 'm', input: ['text'], output: ['text'], price: { input: 1, output: 2 } }

describe('a budget that refuses unknown prices', () => {
  const { open, openRows } = opener()
  const budget = { day: 100, unknown: 'refuse' } as const

  test('refuses a model without one, without a word about channels, and tells the operator what to do', async () => {
    const { testServer, upstream } = await open(hello, { group: { budget } })
    for (let asked = 0; asked < 2; asked++) {
      const { status, json, text } = await testServer.ask(CHAT_PATH, ASK)
      expect(status).toBe(403)
      expect(json.error).toMatchObject({
        ...{ code: 'price_unknown', param: 'model' },
        message: "This key's budget admits no model whose price is unknown.",
      })
      expect(text).not.toMatch(/channel|config|upstream/)
    }
    expect(upstream.seen).toEqual([])
    const warned = testServer.lines.filter(({ message }) => message.includes('unknown: allow'))
    expect(warned).toMatchObject([{ level: 'warn', fields: { model: 'm' } }])
  })

  test('holds without an amount, too, in the shape of each caller', async () => {
    const { testServer } = await open(hello, { group: { budget: { unknown: 'refuse' } } })
    const { status, json } = await testServer.ask(
      '/v1/messages',
      { ...ASK, max_tokens: 5 },
      { headers: { 'anthropic-version': '2023-06-01' } },
    )
    expect([status, json.error.type]).toEqual([403, 'permission_error'])
  })

  test('admits a model whose price the operator states, and by default any', async () => {
    const config = { models: new Map([['m', PRICED]]) }
    expect((await (await open(hello, { group: { budget }, config })).testServer.ask(CHAT_PATH, ASK)).status).toBe(200)
    for (const lax of [{ day: 100 }, { day: 100, unknown: 'allow' } as const]) {
      const { testServer } = await open(hello, { group: { budget: lax } })
      expect((await testServer.ask(CHAT_PATH, ASK)).status).toBe(200)
    }
  })

  test('takes a target whose price is known before a preferred one without', async () => {
    const rows: Row[] = [
      { script: helloWhole, priority: 1, models: named('own-model') },
      { script: helloWhole, priority: 9, provider: 'openai', models: named('gpt-4o') },
    ]
    const { testServer, upstreams } = await openRows(rows, { group: { budget } })
    expect((await testServer.ask(CHAT_PATH, ASK)).status).toBe(200)
    expect(upstreams.map(({ seen }) => seen.length)).toContain(0)
    expect(upstreams[1]!.seen).toHaveLength(1)
  })
})
