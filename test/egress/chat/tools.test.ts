import { expect, it } from 'vitest'
import type { JsonObject } from '../../../src/canonical/node.ts'
import { WRITERS } from '../../../src/egress/index.ts'
import { shownLosses } from '../../../src/egress/losses.ts'
import { cerebras } from '../../../src/formats/vendors/hosts.ts'
import { REQUEST } from '../../builders/requests.ts'
import { FOREIGN } from '../../builders/write-options.ts'

/** LibreChat marks the last tool of a request of Messages as the end of a cached prefix. */
const MARKED = { ...REQUEST, tools: [{ type: 'function' as const, name: 'f', cache: {} }] }

function written(cache: string) {
  const { wire, losses } = WRITERS['chat']!.request!(MARKED, { ...FOREIGN, dialect: { cache } })
  const [tool] = wire.body['tools'] as readonly JsonObject[]
  return { tool: tool!, losses: losses.filter(({ path }) => path.includes('cache')) }
}

it('a cache marker of a tool is dropped at OpenAI, whose tools have none', () => {
  const { tool, losses } = written('prompt_cache_breakpoint')
  expect(Object.keys(tool)).toEqual(['type', 'function'])
  expect(losses).toEqual([{ kind: 'dropped', path: ['tools', 0, 'cache'], reason: 'no-cache-markers-here' }])
})

it('a cache marker of a tool is kept where `cache_control` marks prefixes', () => {
  const { tool, losses } = written('cache_control')
  expect(tool['cache_control']).toEqual({ type: 'ephemeral' })
  expect(losses).toEqual([])
})

it('a strict function of Claude whose schema leaves properties optional is not strict at OpenAI', () => {
  const leaf = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false }
  const strictOf = (format: string, parameters: JsonObject) => {
    const tools = [{ type: 'function' as const, name: 'f', strict: true, parameters }]
    const { wire, losses } = WRITERS[format]!.request!({ ...REQUEST, tools }, FOREIGN)
    const [tool] = wire.body['tools'] as readonly JsonObject[]
    const written = (tool!['function'] ?? tool) as JsonObject
    return { strict: written['strict'], lost: losses.some(({ path }) => path.join('.') === 'tools.0.strict') }
  }
  const holding = (inner: JsonObject): JsonObject => ({ ...leaf, properties: { a: { type: 'array', items: inner } } })
  for (const format of ['chat', 'responses']) {
    for (const schema of [leaf, holding(leaf)]) expect(strictOf(format, schema)).toEqual({ strict: true, lost: false })
    for (const open of [
      { ...leaf, required: [] },
      { ...leaf, additionalProperties: true },
    ])
      for (const schema of [open, holding(open)])
        expect(strictOf(format, schema)).toEqual({ strict: false, lost: true })
  }
})

it('a pattern with lookaround, which OpenAI refuses in every function, is dropped and shown', () => {
  const email = { type: 'string', pattern: '^(?!\\.)[a-z.]+@[a-z.]+$' }
  const plain = { type: 'string', pattern: '^(?:a|(?P<b>c))$' }
  const tools = [{ type: 'function' as const, name: 'f', parameters: { type: 'object', properties: { email, plain } } }]
  for (const format of ['chat', 'responses']) {
    const { wire, losses } = WRITERS[format]!.request!({ ...REQUEST, tools }, FOREIGN)
    const [tool] = wire.body['tools'] as readonly JsonObject[]
    const { parameters } = (tool!['function'] ?? tool) as JsonObject
    expect(parameters).toEqual({ type: 'object', properties: { email: { type: 'string' }, plain } })
    expect(shownLosses(losses)).toMatchObject([{ path: ['tools', 0, 'parameters'], reason: 'no-lookaround' }])
  }
})

it('a pattern with lookaround is dropped from the schema of an answer, too', () => {
  const text = { shape: 'schema' as const, schema: { type: 'object', properties: { a: { pattern: '(?=x)' } } } }
  for (const format of ['chat', 'responses']) {
    const { wire, losses } = WRITERS[format]!.request!({ ...REQUEST, output: { text } }, FOREIGN)
    expect(JSON.stringify(wire.body)).not.toContain('(?=x)')
    expect(shownLosses(losses)).toMatchObject([{ path: ['output', 'text', 'schema'], reason: 'no-lookaround' }])
  }
})

it('a union at the top of the arguments, which OpenAI, Kimi and Claude refuse, becomes one object', () => {
  const kind = (value: string, more: JsonObject) => ({
    ...{ type: 'object', properties: { kind: { const: value }, ...more }, required: ['kind'] },
  })
  const [text, number] = [{ type: 'string' }, { type: 'number' }]
  const parametersIn = (format: string, parameters: JsonObject) => {
    const tools = [{ type: 'function' as const, name: 'f', parameters }]
    const { wire, losses } = WRITERS[format]!.request!({ ...REQUEST, tools }, FOREIGN)
    expect(shownLosses(losses).map(({ path }) => path.join('.'))).toContain('tools.0.parameters')
    const [tool] = wire.body['tools'] as readonly JsonObject[]
    const written = (tool!['function'] ?? tool) as JsonObject
    return written['parameters'] ?? written['input_schema']
  }
  for (const format of ['chat', 'responses', 'messages']) {
    const merged = { kind: { anyOf: [{ const: 'a' }, { const: 'b' }] }, x: text, y: number }
    const branches = [kind('a', { x: text }), kind('b', { y: number })]
    for (const key of ['anyOf', 'oneOf'])
      expect(parametersIn(format, { type: 'object', [key]: branches })).toEqual({ type: 'object', properties: merged })
    const $defs = { A: branches[0]!, B: branches[1]! }
    const referring = [{ $ref: '#/$defs/A' }, { $ref: '#/$defs/B' }]
    expect(parametersIn(format, { $defs, anyOf: referring })).toEqual({ type: 'object', $defs, properties: merged })
    const both = { type: 'object', properties: { z: text }, required: ['z'], allOf: [kind('a', { x: text })] }
    expect(parametersIn(format, both)).toEqual({
      ...{ type: 'object', properties: { z: text, kind: { const: 'a' }, x: text }, required: ['z', 'kind'] },
    })
    const eitherRequired = { type: 'object', properties: { z: text }, anyOf: [{ required: ['z'] }], not: {} }
    expect(parametersIn(format, eitherRequired)).toEqual({ type: 'object', properties: { z: text } })
  }
})

it('a function without parameters gets an empty schema, which MiniMax demands (Gemini CLI, Qwen Code)', () => {
  const parametersOf = (strict: boolean) => {
    const tools = [{ type: 'function' as const, name: 'f', strict }]
    const { wire } = WRITERS['chat']!.request!({ ...REQUEST, tools }, FOREIGN)
    return (wire.body['tools'] as readonly JsonObject[])[0]!['function']
  }
  const empty = { type: 'object', properties: {} }
  expect(parametersOf(false)).toMatchObject({ parameters: empty })
  expect(parametersOf(true)).toMatchObject({ parameters: { ...empty, additionalProperties: false }, strict: true })
})

it('no tool is strict at Cerebras, which refuses tools of which some are (Agents SDK, pydantic-ai)', () => {
  const dialect = cerebras.formats.find(({ format }) => format === 'chat')!.dialect!
  const parameters = { type: 'object', properties: {}, required: [], additionalProperties: false }
  const tools = [true, false, undefined].map((strict, index) => ({
    ...{ type: 'function' as const, name: `f${index}`, parameters },
    ...(strict === undefined ? {} : { strict }),
  }))
  const { wire, losses } = WRITERS['chat']!.request!({ ...REQUEST, tools }, { ...FOREIGN, dialect })
  expect(JSON.stringify(wire.body)).not.toContain('"strict"')
  expect(shownLosses(losses)).toMatchObject([{ path: ['tools', 0, 'strict'], reason: 'no-strict-tools' }])
})

// Claude Code's Artifact has such a pattern (BerriAI/litellm#40485).
it('a pattern that Python does not compile, which OpenAI refuses, is dropped and shown', () => {
  const title = { type: 'string', pattern: '^[^\\p{Cc}]+$' }
  const tools = [{ type: 'function' as const, name: 'f', parameters: { type: 'object', properties: { title } } }]
  for (const format of ['chat', 'responses']) {
    const { wire, losses } = WRITERS[format]!.request!({ ...REQUEST, tools }, FOREIGN)
    expect(JSON.stringify(wire.body)).not.toContain('{Cc}')
    expect(shownLosses(losses)).toMatchObject([{ path: ['tools', 0, 'parameters'], reason: 'no-such-pattern' }])
  }
})

it.each(['chat', 'responses', 'messages'])('a boolean schema of a property becomes an object in %s', format => {
  const parameters = {
    type: ['object', 'null'],
    properties: { any: true, none: false, deep: { properties: { a: true } } },
  }
  const tools = [{ type: 'function' as const, name: 'f', parameters }]
  const { wire, losses } = WRITERS[format]!.request!({ ...REQUEST, tools }, FOREIGN)
  const [tool] = wire.body['tools'] as readonly JsonObject[]
  const sent = { ...tool, ...(tool!['function'] as JsonObject | undefined) }
  expect(sent['parameters'] ?? sent['input_schema']).toEqual({
    type: 'object',
    properties: { any: {}, none: { not: {} }, deep: { properties: { a: {} } } },
  })
  expect(losses.some(({ reason }) => reason === 'schema-made-legal')).toBe(true)
})

/** Writes a request whose choice the upstream may not read. */
function chosen(toolChoice: object, tool_choices: string) {
  const tools = ['a', 'b'].map(name => ({
    type: 'function' as const,
    name,
    parameters: { type: 'object', properties: {} },
  }))
  const request = { ...REQUEST, tools, toolChoice } as typeof REQUEST
  const { wire, losses } = WRITERS['chat']!.request!(request, { ...FOREIGN, dialect: { tool_choices } })
  const offered = (wire.body['tools'] as readonly JsonObject[] | undefined)?.map(
    tool => (tool['function'] as JsonObject)['name'],
  )
  return { offered, choice: wire.body['tool_choice'], shown: shownLosses(losses).map(({ reason }) => reason) }
}

it('a choice that names a tool offers that tool alone where choices are modes', () => {
  expect(chosen({ mode: 'required', only: ['b'] }, 'modes')).toMatchObject({ offered: ['b'], choice: 'required' })
  expect(chosen({ mode: 'auto', only: ['a'] }, 'modes')).toMatchObject({ offered: ['a'], choice: 'auto' })
  expect(chosen({ mode: 'none' }, 'modes')).toMatchObject({ offered: ['a', 'b'], choice: 'none' })
})

it('a choice that the upstream does not read decides which tools are offered', () => {
  expect(chosen({ mode: 'none' }, 'none')).toMatchObject({ offered: undefined, choice: undefined })
  const forced = chosen({ mode: 'required', only: ['b'] }, 'none')
  expect(forced).toMatchObject({ offered: ['b'], choice: undefined })
  expect(forced.shown).toContain('no-forced-tools')
})

it('a choice of several tools is a list of these tools at vendors that know no such choice', () => {
  const tools = ['a', 'b', 'c'].map(name => ({ type: 'function' as const, name }))
  const request = { ...REQUEST, tools, toolChoice: { mode: 'required' as const, only: ['a', 'b'] } }
  const { wire, losses } = WRITERS['chat']!.request!(request, { ...FOREIGN, dialect: cerebras.formats[0]!.dialect! })
  const names = (wire.body['tools'] as readonly { function: { name: string } }[]).map(tool => tool.function.name)
  expect([names, wire.body['tool_choice']]).toEqual([['a', 'b'], 'required'])
  expect(shownLosses(losses)).toEqual([])
  const openai = WRITERS['chat']!.request!(request, FOREIGN).wire.body
  expect(openai['tool_choice']).toMatchObject({ type: 'allowed_tools' })
})
