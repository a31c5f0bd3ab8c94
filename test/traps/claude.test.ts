import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/canonical/node.ts'
import type { CanonicalRequest, Reasoning } from '../../src/canonical/request.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { shownLosses } from '../../src/egress/losses.ts'
import { familyDialect } from '../../src/formats/index.ts'
import { READERS } from '../../src/ingress/index.ts'
import { assistant, text, tool, user } from '../builders/messages.ts'
import { FOREIGN } from '../builders/write-options.ts'
import { refusals } from '../laws/strict-claude.ts'
import { answerOf, call, FUNCTION, native, thought, wire, write } from './messages.ts'

/* Requests that Claude gets for callers of other formats, by model family. */

const tools = [FUNCTION, { ...FUNCTION, name: 'g' }, { ...FUNCTION, name: 'h' }]

/** Returns the body that a model receives, and the losses that the caller sees. */
function sent(model: string, more: Partial<CanonicalRequest>, dialect: JsonObject = {}) {
  const { wire: written, losses } = write({ ...more, model }, { ...familyDialect('messages', model), ...dialect })
  return {
    // biome-ignore lint/suspicious/noExplicitAny: the tests below look into the wire value by hand
    body: written.body as any,
    lost: shownLosses(losses).map(({ path, reason }) => `${path.join('/')} ${reason}`),
  }
}

const quiet = { sampling: { maxTokens: 9000 } } as const

describe('thinking', () => {
  const forced = { toolChoice: { mode: 'required' }, tools, reasoning: { effort: 'high' }, ...quiet } as const
  const midway = {
    messages: [user(text('hi')), assistant(thought('x', 'responses'), call('a')), tool(answerOf('a', text('1')))],
    ...{ tools, reasoning: { effort: 'high' as const }, ...quiet },
  } as const

  it('trap 93: a tool that must be called must be called, and adaptive thinking goes on', () => {
    for (const model of ['claude-opus-4-6', 'claude-opus-4-8', 'claude-sonnet-5', 'claude-fable-5', 'gateway-alias']) {
      const { body, lost } = sent(model, forced)
      expect(body).toMatchObject({ thinking: { type: 'adaptive' }, tool_choice: { type: 'any' } })
      expect(body.output_config).toEqual({ effort: 'high' })
      expect(lost).toEqual([])
    }
    const named = sent('claude-opus-4-8', { ...forced, toolChoice: { mode: 'required', only: ['g'] } })
    expect(named.body).toMatchObject({ thinking: { type: 'adaptive' }, tool_choice: { type: 'tool', name: 'g' } })
    expect(named.body.tools).toHaveLength(3)
  })

  it('trap 93: a model that thinks by a budget does without for it', () => {
    const { body, lost } = sent('claude-sonnet-4-5', forced)
    expect(body).toMatchObject({ thinking: { type: 'disabled' }, tool_choice: { type: 'any' } })
    expect(lost).toEqual(['reasoning/effort a-tool-is-forced'])
    const budget = sent('claude-sonnet-4-6', { ...forced, reasoning: { budget: 4000 } })
    expect(budget.body).toMatchObject({ thinking: { type: 'adaptive' }, tool_choice: { type: 'any' } })
    expect(budget.body.output_config).toEqual({ effort: 'medium' })
  })

  it('trap 93: a model that lets no tool be forced is asked, and that is told', () => {
    const { body, lost } = sent('claude-opus-5-5', forced)
    expect(body).toMatchObject({ thinking: { type: 'adaptive' }, tool_choice: { type: 'auto' } })
    expect(lost).toEqual(['toolChoice/mode no-forced-tools'])
    const named = sent('claude-sonnet-5-5', { ...forced, toolChoice: { mode: 'required', only: ['g'] } })
    expect(named.body.tools.map(({ name }: JsonObject) => name)).toEqual(['g'])
  })

  describe.each([
    // Thinking settings of each model: without a forced tool, and with one.
    { model: 'claude-haiku-4-5-20251001', free: 'enabled', bound: 'disabled', isForced: true },
    { model: 'claude-sonnet-4-6', free: 'adaptive', bound: 'adaptive', isForced: true },
    { model: 'claude-opus-4.8', free: 'adaptive', bound: 'adaptive', isForced: true },
    { model: 'claude-opus-5', free: 'adaptive', bound: 'adaptive', isForced: true },
    { model: 'claude-fable-5-1', free: 'adaptive', bound: 'adaptive', isForced: false },
  ])('before $model', ({ model, free, bound, isForced }) => {
    const choices = [
      { name: 'auto', choice: { mode: 'auto' }, type: 'auto' },
      { name: 'none', choice: { mode: 'none' }, type: 'none' },
      { name: 'any', choice: { mode: 'required' }, type: 'any' },
      { name: 'a tool', choice: { mode: 'required', only: ['g'] }, type: 'tool' },
    ] as const
    const modes = [
      { effort: 'high' },
      { budget: 4000 },
      { budget: -1 },
      { effort: 'none' },
    ] as const satisfies readonly Reasoning[]
    const cells = modes.flatMap(reasoning => choices.map(one => ({ reasoning, ...one })))

    it.each(cells)('trap 93: $reasoning and the choice of $name', ({ reasoning, choice, type }) => {
      const { body, lost } = sent(model, { toolChoice: choice, tools, reasoning, ...quiet })
      const isForcing = choice.mode === 'required'
      expect(refusals(model, body)).toEqual([])
      expect(body.tool_choice.type).toBe(isForcing && !isForced ? 'auto' : type)
      expect(lost.includes('toolChoice/mode no-forced-tools')).toBe(isForcing && !isForced)
      if ('effort' in reasoning && reasoning.effort === 'none') return
      // A model with both modes thinks within a budget if there is one.
      const usual = model === 'claude-sonnet-4-6' && 'budget' in reasoning && reasoning.budget > 0 ? 'enabled' : free
      expect(body.thinking.type).toBe(isForcing ? bound : usual)
      const reasons = lost.filter(loss => loss.startsWith('reasoning/')).map(loss => loss.split(' ')[1])
      expect(reasons.includes('a-tool-is-forced')).toBe(isForcing && usual === 'enabled')
    })
  })

  it('trap 93: a caller of messages knows what its model takes: its choice and its thinking pass unchanged', () => {
    const thinking = { type: 'enabled', budget_tokens: 2000 }
    const more = { thinking, max_tokens: 4000, tools: [{ name: 'f', input_schema: {} }], tool_choice: { type: 'any' } }
    expect(native(more, familyDialect('messages', 'claude-sonnet-4-5'))).toMatchObject(more)
  })

  it('trap 93: midway through tools with thoughts of another upstream it stays adaptive', () => {
    for (const model of ['claude-opus-4-6', 'claude-opus-4-8', 'claude-opus-5-5']) {
      const { body } = sent(model, midway)
      expect(body).toMatchObject({ thinking: { type: 'adaptive' }, output_config: { effort: 'high' } })
      expect(JSON.stringify(body.messages)).not.toContain('thinking')
    }
    expect(sent('claude-haiku-4-5', midway).body.thinking).toEqual({ type: 'disabled' })
  })

  it('trap 93: off is said as the model has it', () => {
    const off = { reasoning: { effort: 'none' }, ...quiet } as const
    expect(sent('claude-opus-4-8', off).body.thinking).toEqual({ type: 'disabled' })
    expect(sent('claude-sonnet-5-5', off).body.thinking).toEqual({ type: 'between_tools' })
    const always = sent('claude-fable-5', off)
    expect(always.body).toMatchObject({ thinking: { type: 'adaptive' }, output_config: { effort: 'low' } })
    expect(always.lost).toEqual(['reasoning/effort always-thinks'])
  })

  it('trap 93: efforts and budgets are those the model knows', () => {
    const effort = (model: string) => sent(model, { reasoning: { effort: 'xhigh' }, ...quiet })
    expect(effort('claude-opus-4-7').body.output_config).toEqual({ effort: 'xhigh' })
    expect(effort('claude-sonnet-4-6').body.output_config).toEqual({ effort: 'high' })
    expect(effort('claude-opus-4-5').body).toMatchObject({
      thinking: { type: 'enabled' },
      output_config: { effort: 'high' },
    })
    expect(effort('claude-haiku-4-5').body).not.toHaveProperty('output_config')
    expect(effort('claude-3-5-haiku-latest').body).not.toHaveProperty('thinking')
    const budget = sent('claude-opus-4-8', { reasoning: { budget: 10_000 }, ...quiet })
    expect(budget.body).toMatchObject({ thinking: { type: 'adaptive' }, output_config: { effort: 'high' } })
    expect(budget.lost).toEqual(['reasoning/effort said-as-effort', 'reasoning/budget said-as-effort'])
  })

  it('a channel knows better than the family', () => {
    const { body } = sent('claude-opus-4-8', { reasoning: { effort: 'high' }, ...quiet }, { thinking: 'budget' })
    expect(body.thinking).toMatchObject({ type: 'enabled' })
  })
})

describe('tools that the caller shuts out', () => {
  const offered = ({ body }: { body: { tools: JsonObject[] } }) => body.tools.map(({ name }) => name)

  it('are not offered', () => {
    const free = sent('claude-opus-4-8', { tools, toolChoice: { mode: 'auto', only: ['g', 'f'] }, ...quiet })
    expect(offered(free)).toEqual(['f', 'g'])
    expect(free.body.tool_choice).toEqual({ type: 'auto' })
    expect(free.lost).toEqual([])
    const some = sent('claude-opus-4-8', { tools, toolChoice: { mode: 'required', only: ['g', 'f'] }, ...quiet })
    expect(offered(some)).toEqual(['f', 'g'])
    expect(some.body.tool_choice).toEqual({ type: 'any' })
  })

  it('stay declared where none may be called: a history with calls needs tools', () => {
    const messages = [user(text('hi')), assistant(call('a')), tool(answerOf('a', text('1')))]
    const none = sent('claude-opus-4-8', { messages, tools, toolChoice: { mode: 'auto', only: ['x'] }, ...quiet })
    expect(offered(none)).toEqual(['f', 'g', 'h'])
    expect(none.body.tool_choice).toEqual({ type: 'none' })
    expect(none.lost).toContain('toolChoice/mode no-such-tools')
  })
})

describe('a last turn of the assistant', () => {
  const messages = [user(text('Write.')), assistant(text('Once upon a time '))]

  it('is not gone on with by models that refuse it: the user asks them to', () => {
    for (const model of ['claude-opus-4-6', 'claude-sonnet-4-6', 'claude-haiku-5-5', 'claude-fable-5-1']) {
      const { body, lost } = sent(model, { messages, ...quiet })
      expect(body.messages.at(-1)).toEqual({ role: 'user', content: 'Continue.' })
      expect(body.messages.at(-2)).toEqual({ role: 'assistant', content: 'Once upon a time ' })
      expect(lost).toEqual(['messages/2 the-user-speaks-last'])
    }
  })

  it('is gone on with by the others, unless they think, and ends without a space', () => {
    const { body, lost } = sent('claude-sonnet-4-5', { messages, ...quiet })
    expect(body.messages.at(-1)).toEqual({ role: 'assistant', content: 'Once upon a time' })
    expect(lost).toEqual(['messages/1/content/0/text no-space-at-the-end'])
    const thinking = sent('claude-sonnet-4-5', { messages, reasoning: { budget: 2000 }, ...quiet })
    expect(thinking.body.messages.at(-1).role).toBe('user')
  })

  it('with calls is followed by their results', () => {
    const { body, lost } = sent('claude-opus-4-8', { messages: [user(text('hi')), assistant(call('a'))], ...quiet })
    expect(body.messages.at(-1)).toMatchObject({ role: 'user', content: [{ tool_use_id: 'a', is_error: true }] })
    expect(lost).toEqual(['messages/2 unanswered-call'])
  })
})

describe('the limit of an answer', () => {
  it('trap 41: is what the model can answer where the caller gives none, else 32,000', () => {
    const limit = (model: string, dialect: JsonObject = {}) => sent(model, {}, dialect).body.max_tokens
    expect(limit('claude-opus-4-8')).toBe(128_000)
    expect(limit('claude-haiku-4-5')).toBe(64_000)
    expect(limit('claude-opus-4-1')).toBe(32_000)
    expect(limit('claude-3-haiku-20240307')).toBe(4096)
    expect(limit('claude-next')).toBe(32_000)
    expect(limit('glm-5')).toBe(32_000)
    expect(limit('claude-opus-4-8', { max_output: 1000 })).toBe(1000)
    expect(limit('claude-opus-4-8', { max_tokens: 500 })).toBe(500)
  })

  it('trap 41: is never above that, and leaves room beside a budget', () => {
    const much = sent('claude-haiku-4-5', { sampling: { maxTokens: 100_000 } })
    expect(much.body.max_tokens).toBe(64_000)
    expect(much.lost).toEqual(['sampling/maxTokens most-the-model-answers'])
    const { body } = sent('claude-opus-4-1', { reasoning: { budget: 50_000 } })
    expect(body.max_tokens).toBe(32_000)
    expect(body.thinking.budget_tokens).toBeLessThan(32_000)
  })
})

describe('caching', () => {
  const system = { role: 'system', content: [text('Be brief.')] } as const
  const ephemeral = { type: 'ephemeral' }

  it('trap 62: a caller who cannot mark gets automatic caching, and what all conversations share is marked', () => {
    const { body, lost } = sent('claude-opus-4-8', { messages: [system, user(text('hi'))], tools, ...quiet })
    expect(body.cache_control).toEqual(ephemeral)
    expect(body.system).toEqual([{ type: 'text', text: 'Be brief.', cache_control: ephemeral }])
    expect(JSON.stringify(body).split('cache_control')).toHaveLength(3)
    expect(lost).toEqual([])
    expect(sent('claude-opus-4-8', { tools, ...quiet }).body.tools[2].cache_control).toEqual(ephemeral)
  })

  it('trap 62: but not for one question, nor at upstreams that do not know it', () => {
    const long = { messages: [user(text('hi')), assistant(text('a')), user(text('b'))], ...quiet }
    const cached = (model: string, more: Partial<CanonicalRequest>, dialect: JsonObject = {}) =>
      JSON.stringify(sent(model, more, dialect).body).includes('cache_control')
    expect(cached('claude-opus-4-8', quiet)).toBe(false)
    expect(cached('claude-opus-4-8', long)).toBe(true)
    expect(cached('glm-5', long)).toBe(false)
    expect(cached('glm-5', long, { cache: 'auto' })).toBe(true)
    expect(cached('claude-opus-4-8', long, { cache: 'off' })).toBe(false)
    expect(cached('claude-opus-4-8', { ...long, output: { count: true } })).toBe(false)
  })

  it('trap 63: a caller who marks anything is left alone', () => {
    const marked = { ...text('hi'), cache: {} } as const
    const { body } = sent('claude-opus-4-8', { messages: [system, user(marked)], tools, ...quiet })
    expect(body).not.toHaveProperty('cache_control')
    expect(body.system).toBe('Be brief.')
  })
})

describe('a budget without a word of showing, which Claude answers with summaries', () => {
  const thinking = { type: 'enabled', budget_tokens: 2000 }
  const asked = READERS['messages']!.request!(wire({ thinking }))
  const told = (format: string) => WRITERS[format]!.request!(asked, FOREIGN)

  it('asks other upstreams to show their thoughts', () => {
    expect(told('contents').wire.body).toMatchObject({
      generationConfig: { thinkingConfig: { includeThoughts: true, thinkingBudget: 2000 } },
    })
    expect(told('responses').wire.body).toMatchObject({ reasoning: { summary: 'auto' } })
  })

  it('goes back unchanged, and is no loss where showing cannot be chosen', () => {
    expect(native({ thinking }).thinking).toEqual(thinking)
    expect(native({ thinking: { ...thinking, display: null } }).thinking).toEqual({ ...thinking, display: null })
    expect(shownLosses(told('chat').losses).map(({ path }) => path.join('/'))).toEqual(['reasoning/budget'])
  })
})
