import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { CanonicalRequest, Message } from '../../../src/canonical/request.ts'
import { estimate } from '../../../src/gateway/counting/estimate.ts'
import { blocksOf, truncatedRequest } from '../../../src/gateway/stored/truncate.ts'
import { TIMED } from '../../builders/time.ts'

const text = (role: Message['role'], said: string): Message => ({ role, content: [{ type: 'text', text: said }] })
const call = (id = 'c'): Message => ({
  role: 'assistant',
  content: [{ type: 'tool-call', id, name: 'f', arguments: '{}' }],
})
const answer = (id = 'c', said = ''): Message => ({
  role: 'tool',
  content: [{ type: 'tool-result', id, content: said === '' ? [] : [{ type: 'text', text: said }] }],
})

const asked = (messages: readonly Message[], more: Partial<CanonicalRequest> = {}): CanonicalRequest => ({
  ...{ model: 'm', messages, output: {}, sampling: { maxTokens: 0 }, stream: false },
  extras: { responses: { truncation: 'auto' } },
  ...more,
})

/** The conversation truncated to a number of tokens. */
const left = async (messages: readonly Message[], context: number, more: Partial<CanonicalRequest> = {}) =>
  (await truncatedRequest(asked(messages, more), { context }))!.messages

/** Number of pieces that are each rounded up. */
const ROUNDED = 3

/** About 100 tokens. */
const long = 'one two three four five '.repeat(17)

describe('truncation: auto', () => {
  const talk = [text('system', 'be'), text('user', long), call(), answer(), text('user', long), text('user', 'last')]

  test('drops the oldest turns whole, and no more than it must', async () => {
    expect(await left(talk, 180)).toEqual([talk[0], ...talk.slice(4)])
    expect(await left(talk, 1000)).toBe(talk)
  })

  test('keeps the last turn and what stands above all, however small the room', async () => {
    expect(await left(talk, 1)).toEqual([talk[0], ...talk.slice(4)])
    const spoken = [text('developer', long), text('user', long)]
    expect(await left(spoken, 1)).toEqual(spoken)
  })

  test('is nobody’s loss once it is done, and is left to others where nothing is known', async () => {
    expect((await truncatedRequest(asked(talk), { context: 1000 }))!.extras).toEqual({ responses: {} })
    expect(await truncatedRequest(asked(talk), {})).toBeUndefined()
  })

  test('counts tokens, not characters: Chinese has few characters and many tokens', async () => {
    const chinese = '今天的天气很好，我们去公园散步吧。'.repeat(30)
    const turns = [text('user', chinese), text('assistant', chinese), text('user', '好')]
    const tokens = await estimate({ ...asked(turns), extras: {} }, 'messages')
    expect(tokens).toBeGreaterThan(chinese.length)
    expect(await left(turns, tokens + ROUNDED)).toBe(turns)
    expect(await left(turns, tokens - 1)).toEqual(turns.slice(2))
  })

  test('keeps room for the answer: as much as is asked for, else a quarter of the context', async () => {
    const turns = [text('user', long), text('assistant', 'Well.'), text('user', 'last')]
    const tokens = await estimate(asked(turns), 'messages')
    expect(await left(turns, tokens + ROUNDED + 50, { sampling: { maxTokens: 50 } })).toBe(turns)
    expect(await left(turns, tokens + 50, { sampling: { maxTokens: 51 } })).toEqual(turns.slice(2))
    expect(await left(turns, Math.ceil(((tokens + ROUNDED) * 4) / 3), { sampling: {} })).toBe(turns)
    expect(await left(turns, Math.floor((tokens * 4) / 3) - 1, { sampling: {} })).toEqual(turns.slice(2))
    const limited = await truncatedRequest(asked(turns, { sampling: {} }), {
      context: tokens + ROUNDED + 10,
      maxOutput: 10,
    })
    expect(limited!.messages).toBe(turns)
  })

  test('counts the tools, too', async () => {
    const turns = [text('user', long), text('assistant', 'Well.'), text('user', 'last')]
    const tokens = await estimate(asked(turns), 'messages')
    const tools = [{ type: 'function', name: 'f', description: long }] as const
    expect(await left(turns, tokens, { tools })).toEqual(turns.slice(2))
  })

  test('an agent’s one long turn goes step by step: its question and its last step stay', async () => {
    const step = (id: string) => [call(id), answer(id, long)]
    const turn = [text('user', 'Do it.'), ...step('a'), ...step('b'), ...step('c')]
    const tokens = await estimate(asked(turn), 'messages')
    expect(await left(turn, tokens - 1)).toEqual([turn[0], ...turn.slice(3)])
    expect(await left(turn, 1)).toEqual([turn[0], ...turn.slice(5)])
  })

  test('a result that came late keeps its call', async () => {
    const turn = [text('user', 'Do it.'), call('a'), answer('x', long), call('b'), answer('b', long), answer('a')]
    expect(await left(turn, 1)).toEqual(turn)
    expect(blocksOf(turn).map(({ indexes: places }) => places)).toEqual([[0], [1, 2, 3, 4, 5]])
  })

  test('never parts a call from its result, nor changes the order, and fits wherever it can', async () => {
    const turn = fc.constantFrom(
      [text('user', long)],
      [text('user', 'x'), call(), answer()],
      [text('user', 'y'), text('assistant', long)],
      [text('user', 'z'), call('a'), answer('a', long), call('b'), answer('b')],
    )
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 8 }), fc.nat(900), async (turns, room) => {
        const all = turns.flat().map(one => ({ ...one }))
        const kept = await left(all, room)
        const places = kept.map(one => all.indexOf(one))
        const staying = new Set(blocksOf(all).flatMap(block => (block.mustStay ? block.indexes : [])))
        expect(places).toEqual(places.toSorted((a, b) => a - b))
        expect([...staying].every(place => places.includes(place))).toBe(true)
        const gone = [...all.keys()].filter(place => !places.includes(place))
        const chosen = places.filter(place => !staying.has(place))
        expect(Math.max(-1, ...gone)).toBeLessThan(Math.min(all.length, ...chosen))
        expect(kept.filter(({ role }) => role === 'tool').length).toBe(kept.filter(isCall).length)
        const least = await estimate(asked(await left(all, 0)), 'messages')
        expect(await estimate(asked(kept), 'messages')).toBeLessThanOrEqual(Math.max(room, least))
      }),
      { numRuns: 60 },
    )
  })

  test('takes no longer for a history of many calls answered backwards than it has to', TIMED, () => {
    const ids = Array.from({ length: 50_000 }, (_, index) => `c${index}`)
    const steps = ids.flatMap(id => [call(id), answer('none')])
    const began = performance.now()
    const [, block] = blocksOf([text('user', 'Do it.'), ...steps, ...ids.toReversed().map(id => answer(id))])
    expect(block!.indexes.length).toBe(150_000)
    expect(performance.now() - began).toBeLessThan(2000)
  })
})

const isCall = ({ content }: Message): boolean => content.some(({ type }) => type === 'tool-call')
