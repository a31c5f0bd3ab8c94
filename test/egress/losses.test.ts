import { describe, expect, test } from 'vitest'
import type { Loss } from '../../src/canonical/loss.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { essentialLosses, lossHeaders, refusal, shownLosses } from '../../src/egress/losses.ts'
import { READERS } from '../../src/ingress/index.ts'

const dropped = (...path: (string | number)[]): Loss => ({ kind: 'dropped', path, reason: 'no-such-field' })

const picture = { type: 'media', kind: 'image', source: { type: 'url', url: 'https://example.org/a.png' } } as const

const request = (fields: Partial<CanonicalRequest> = {}): CanonicalRequest => ({
  model: 'm',
  messages: [
    { role: 'user', content: [picture] },
    { role: 'assistant', content: [{ type: 'text', text: 'A cat.' }] },
    { role: 'user', content: [{ type: 'text', text: 'And here?' }, picture] },
    { role: 'tool', content: [{ type: 'tool-result', id: 'a', content: [picture] }] },
  ],
  output: {},
  sampling: {},
  stream: false,
  ...fields,
})

describe('the headers', () => {
  test('are absent where nothing was lost', () => {
    expect(lossHeaders([])).toEqual({})
  })

  test('name path and reason', () => {
    expect(lossHeaders([dropped('sampling', 'topK'), dropped('messages', 0, 'cache')])).toEqual({
      'interlingua-loss': 'sampling/topK no-such-field; messages/0/cache no-such-field',
      'interlingua-loss-count': '2',
    })
  })

  test('keep silent about what is undone on the way back and about ids made up', () => {
    const silent: Loss[] = [
      { kind: 'changed', path: ['tools', 0, 'name'], became: 'a', reason: 'too-long', restored: true },
      { kind: 'added', path: ['messages', 0, 'id'], became: 'a', reason: 'minted-id' },
    ]
    expect(lossHeaders(shownLosses(silent))).toEqual({})
    const invented: Loss = { kind: 'added', path: ['sampling', 'maxTokens'], became: 4096, reason: 'required' }
    expect(shownLosses([...silent, invented])).toEqual([invented])
  })

  test('are cut, while the count stays exact', () => {
    const many = Array.from({ length: 50 }, (_, index) => dropped('tools', index))
    const headers = lossHeaders(many)
    expect(headers['interlingua-loss']!.split('; ')).toHaveLength(20)
    expect(headers['interlingua-loss-count']).toBe('50')
    const long = Array.from({ length: 5 }, () => dropped('x'.repeat(400)))
    expect(lossHeaders(long)['interlingua-loss']!.length).toBeLessThan(1024)
    expect(lossHeaders(long)['interlingua-loss-count']).toBe('5')
  })

  test('hold nothing a header may not hold', () => {
    const value = lossHeaders([dropped('extras', 'chat', 'größe\r\nx: y; z/ü\ud800')])['interlingua-loss']!
    expect(value).toMatch(/^[ -~]*$/)
    expect(value.split('; ')).toHaveLength(1)
  })
})

describe('essential losses', () => {
  const isEssential = (loss: Loss, asked = request()) => essentialLosses([loss], asked).length === 1

  test('state that was asked for, and only that', () => {
    expect(isEssential(dropped('state', 'store'), request({ state: { store: true } }))).toBe(true)
    expect(isEssential(dropped('state', 'store'), request({ state: { store: false } }))).toBe(false)
    expect(isEssential(dropped('state', 'previous'), request({ state: { previous: 'r' } }))).toBe(true)
    expect(isEssential(dropped('state', 'conversation'), request({ state: { conversation: 'c' } }))).toBe(true)
    expect(isEssential(dropped('state', 'background'), request({ state: { background: true } }))).toBe(true)
    expect(isEssential(dropped('state', 'background'), request({ state: { background: false } }))).toBe(false)
    expect(isEssential(dropped('state'), request({ state: { store: false } }))).toBe(false)
    expect(isEssential(dropped('state'), request({ state: { store: false, previous: 'r' } }))).toBe(true)
  })

  test('a picture of the last user turn, not of an earlier one', () => {
    expect(isEssential(dropped('messages', 2, 'content', 1))).toBe(true)
    expect(isEssential(dropped('messages', 2, 'content', 1, 'source'))).toBe(true)
    expect(isEssential(dropped('messages', 2))).toBe(true)
    expect(isEssential(dropped('messages', 0, 'content', 0))).toBe(false)
    expect(isEssential(dropped('messages', 2, 'content', 0))).toBe(false)
    expect(isEssential(dropped('messages', 2, 'content', 1, 'detail'))).toBe(false)
  })

  test('a field beside a picture is none, such as the name of the user that AutoGen states', () => {
    expect(isEssential(dropped('messages', 2, 'content'))).toBe(true)
    expect(isEssential(dropped('messages', 2, 'name'))).toBe(false)
    expect(isEssential(dropped('messages', 2, 'cache'))).toBe(false)
  })

  test('any picture of a list of things to embed', () => {
    const asked = request({ output: { modalities: ['embedding'] } })
    expect(isEssential(dropped('messages', 0, 'content', 0), asked)).toBe(true)
    expect(isEssential(dropped('messages', 2, 'content', 0), asked)).toBe(false)
  })

  test('a hosted tool, where the choice demands it', () => {
    const tools = [{ type: 'hosted', kind: 'web-search' }] as const
    expect(isEssential(dropped('tools', 0), request({ tools }))).toBe(false)
    expect(
      isEssential(dropped('tools', 0), request({ tools, toolChoice: { mode: 'required', hosted: 'web-search' } })),
    ).toBe(true)
    const both = [...tools, { type: 'hosted', kind: 'code-execution' }] as const
    const other = { mode: 'required', hosted: 'code-execution' } as const
    expect(isEssential(dropped('tools', 0), request({ tools: both, toolChoice: other }))).toBe(false)
    expect(isEssential(dropped('tools', 0), request({ tools, toolChoice: { mode: 'required' } }))).toBe(true)
  })

  const STORED: readonly (readonly [format: string, path: string, body: JsonObject])[] = [
    ['contents', '/v1beta/models/m:generateContent', { contents: [], cachedContent: 'cachedContents/a' }],
    ['contents', '/v1beta/models/m:generateContent', { contents: [], cached_content: 'projects/p/cachedContents/a' }],
    ['interactions', '/v1beta/interactions', { model: 'm', input: 'Hi.', cached_content: 'cachedContents/a' }],
  ]
  test.each(STORED)('the prompt that an upstream stores, in %s %s %o', (format, path, body) => {
    const asked = READERS[format]!.request!({ path, query: {}, headers: {}, body })
    for (const other of ['chat', 'messages', 'responses', 'converse']) {
      const { losses } = WRITERS[other]!.request!(asked, { dialect: {}, native: false })
      expect(essentialLosses(losses, asked)).toHaveLength(1)
    }
    const others = { ...asked, extras: { contents: { safetySettings: [], store: false } } }
    expect(essentialLosses(WRITERS['chat']!.request!(others, { dialect: {}, native: false }).losses, others)).toEqual(
      [],
    )
  })

  test('the log probabilities of a prompt, which a conversation never has', () => {
    const lost = dropped('output', 'completion')
    const essential = (echo: boolean, logprobs?: number) =>
      essentialLosses(
        [lost],
        request({ output: { completion: { echo } }, sampling: logprobs === undefined ? {} : { logprobs } }),
      )
    expect(essential(true, 0)).toEqual([lost])
    expect(essential(true)).toEqual([])
    expect(essential(false, 1)).toEqual([])
  })

  test('a change is none', () => {
    const loss: Loss = { kind: 'changed', path: ['messages', 2, 'content', 1], became: picture, reason: 'smaller' }
    expect(isEssential(loss)).toBe(false)
  })
})

test('a refusal names every loss', () => {
  const { error } = refusal(Array.from({ length: 40 }, (_, index) => dropped('tools', index)))
  expect(error.kind).toBe('cannot-express')
  for (let index = 0; index < 40; index++) expect(error.message).toContain(`tools/${index} (no-such-field)`)
})
