import { describe, expect, it } from 'vitest'
import { lose } from '../../../src/canonical/loss.ts'
import type { JsonObject } from '../../../src/canonical/node.ts'
import type { Reasoning } from '../../../src/canonical/request.ts'
import { WRITERS } from '../../../src/egress/index.ts'
import { shownLosses } from '../../../src/egress/losses.ts'
import { familyDialect } from '../../../src/formats/index.ts'
import { READERS } from '../../../src/ingress/index.ts'
import { user } from '../../builders/messages.ts'
import { REQUEST, wireRequest } from '../../builders/requests.ts'

/** The upstream's field for a reasoning setting, and the losses that the caller is shown. */
function sent(format: string, model: string, reasoning: Reasoning, dialect: JsonObject = {}) {
  const request = { ...REQUEST, model, reasoning, messages: [user({ type: 'text', text: 'Hi' })] }
  const options = { dialect: { ...familyDialect(format, model), ...dialect }, native: false }
  const { wire, losses } = WRITERS[format]!.request!(request, options)
  const { body } = wire
  const effort = (body['reasoning'] as JsonObject | undefined)?.['effort'] ?? body['reasoning_effort']
  const lost = shownLosses(losses).filter(({ path }) => path[0] === 'reasoning')
  return { effort, lost: lost.map(({ kind, path, reason }) => `${kind} ${path.join('/')} ${reason}`), losses, request }
}

const SAID = ['changed reasoning said-as-effort']

describe.each(['chat', 'responses'])('a thinking budget at %s', format => {
  it.each([
    ['gpt-5', 1024, 'low'],
    ['gpt-5', 2048, 'low'],
    ['gpt-5-mini-2025-08-07', 8000, 'medium'],
    ['o3', 10_000, 'high'],
    ['openai/o4-mini', 60_000, 'high'],
    ['gpt-5.2', 24_000, 'xhigh'],
    ['gpt-5.1', 60_000, 'high'],
    ['gpt-5-pro', 1024, 'high'],
    ['gpt-oss-120b', 4000, 'medium'],
    ['gpt-5.1', 0, 'none'],
    ['gpt-5', 0, 'minimal'],
    ['o3', 0, 'low'],
  ])('before %s: %i tokens are the effort %s', (model, budget, effort) => {
    expect(sent(format, model, { budget })).toMatchObject({ effort, lost: SAID })
  })

  it.each(['gpt-4o', 'gpt-5-chat-latest', 'o1-mini', 'my-deployment'])('is dropped before %s', model => {
    const { effort, lost } = sent(format, model, { budget: 4000 })
    expect([effort, lost]).toEqual([undefined, ['dropped reasoning/budget no-thinking-budget']])
  })

  it('is dropped beside an effort, and not reported where it leaves the amount to the model', () => {
    expect(sent(format, 'gpt-5', { effort: 'high', budget: 1024 })).toMatchObject({
      ...{ effort: 'high', lost: ['dropped reasoning/budget no-thinking-budget'] },
    })
    expect(sent(format, 'gpt-5', { budget: -1 })).toMatchObject({ effort: undefined, lost: [] })
  })

  it('becomes one of the efforts that an operator declares', () => {
    const efforts = ['low', 'high']
    expect(sent(format, 'grok-3-mini', { budget: 8000 }, { efforts })).toMatchObject({ effort: 'low', lost: SAID })
  })

  it('leaves exactly what its loss says', () => {
    const { request, losses } = sent(format, 'gpt-5', { budget: 4000 })
    expect(lose(request, losses).reasoning).toEqual({ effort: 'medium' })
  })

  it('of a messages caller keeps asking for what is shown of it', () => {
    const body = { model: 'gpt-5', max_tokens: 9000, messages: [{ role: 'user', content: 'Hi' }] }
    const thinking = { type: 'enabled', budget_tokens: 8000 }
    const { reasoning } = READERS['messages']!.request!(wireRequest('/v1/messages', { ...body, thinking }))
    const { effort, lost } = sent(format, 'gpt-5', reasoning!)
    expect([effort, lost]).toEqual(['medium', SAID])
  })
})

it('a chat upstream with budgets of its own gets them', () => {
  const { request } = sent('chat', 'gpt-5', { budget: 4000 })
  const dialect = { reasoning_as: 'reasoning', efforts: ['low'] }
  const { body } = WRITERS['chat']!.request!(request, { dialect, native: false }).wire
  expect(body['reasoning']).toEqual({ max_tokens: 4000 })
})
