import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/canonical/node.ts'
import type { CanonicalRequest, Reasoning } from '../../../src/canonical/request.ts'
import { WRITERS } from '../../../src/egress/index.ts'
import { familyDialect } from '../../../src/formats/index.ts'
import { PRESETS } from '../../../src/formats/presets.ts'
import { READERS } from '../../../src/ingress/index.ts'
import { REQUEST } from '../../builders/requests.ts'

const dialectOf = (preset: string, model: string): JsonObject => ({
  ...familyDialect('chat', model),
  ...PRESETS.get(preset)!.formats.find(({ format }) => format === 'chat')!.dialect,
})

const FORCED: Pick<CanonicalRequest, 'tools' | 'toolChoice'> = {
  tools: [{ type: 'function', name: 'f', parameters: { type: 'object', properties: {} } }],
  toolChoice: { mode: 'required', only: ['f'] },
}
const NAMED = { type: 'function', function: { name: 'f' } }

function sent(preset: string, model: string, reasoning?: Reasoning) {
  const request = { ...REQUEST, ...FORCED, model, ...(reasoning === undefined ? {} : { reasoning }) }
  const { wire, losses } = WRITERS['chat']!.request!(request, { dialect: dialectOf(preset, model), native: false })
  const { tool_choice, thinking, enable_thinking } = wire.body
  const reasons = losses.map(({ reason }) => reason).filter(reason => reason.includes('forced'))
  return JSON.parse(JSON.stringify({ tool_choice, thinking, enable_thinking, reasons })) as JsonObject
}

describe('a call that is forced, at vendors that refuse it while the model thinks', () => {
  it('turns thinking off if the caller did not ask for it', () => {
    const off = { tool_choice: NAMED, thinking: { type: 'disabled' }, reasons: ['no-thinking-while-forced'] }
    expect(sent('deepseek', 'deepseek-v4-pro')).toEqual(off)
    expect(sent('moonshot', 'kimi-k2.6')).toEqual(off)
    expect(sent('dashscope', 'qwen3.7-plus')).toEqual({
      tool_choice: NAMED,
      enable_thinking: false,
      reasons: ['no-thinking-while-forced'],
    })
  })

  it('is left to the model if the caller asked for thinking, or the model always thinks', () => {
    const reasons = ['not-forced-while-thinking', 'not-forced-while-thinking']
    const on = { tool_choice: 'auto', thinking: { type: 'enabled' }, reasons }
    expect(sent('deepseek', 'deepseek-v4-pro', { effort: 'high' })).toEqual(on)
    expect(sent('moonshot', 'kimi-k2.7-code')).toEqual({ tool_choice: 'auto', reasons })
  })

  it('stays as it is where thinking is off, or the model takes it', () => {
    const off = { tool_choice: NAMED, thinking: { type: 'disabled' }, reasons: [] }
    expect(sent('deepseek', 'deepseek-v4-pro', { effort: 'none' })).toEqual(off)
    expect(sent('moonshot', 'kimi-k3')).toEqual({ tool_choice: NAMED, reasons: [] })
    expect(sent('together', 'moonshotai/Kimi-K2.6')).toEqual({ tool_choice: NAMED, reasons: [] })
  })

  it('holds for callers of chat, too (opencode, LangChain)', () => {
    const body = {
      model: 'deepseek-v4-flash',
      messages: [{ role: 'user', content: 'hi' }],
      tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } }],
      tool_choice: 'required',
    }
    const native = (more: JsonObject) => {
      const wire = { path: '/chat/completions', query: {}, headers: {}, body: { ...body, ...more } }
      const dialect = dialectOf('deepseek', body.model)
      return WRITERS['chat']!.request!(READERS['chat']!.request!(wire), { dialect, native: true }).wire.body
    }
    expect(native({})).toMatchObject({ tool_choice: 'required', thinking: { type: 'disabled' } })
    expect(native({ thinking: { type: 'enabled' } })).toMatchObject({ tool_choice: 'auto' })
    expect(native({ thinking: { type: 'disabled' } })).toEqual({ ...body, thinking: { type: 'disabled' } })
  })
})
