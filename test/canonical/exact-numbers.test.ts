import type { ServerResponse } from 'node:http'
import fc from 'fast-check'
import { describe, expect, it, test, vi } from 'vitest'
import type { ToolCallPart } from '../../src/canonical/content.ts'
import { parseCallData, parseExactly } from '../../src/canonical/exact-numbers.ts'
import { fold, unfold } from '../../src/canonical/fold.ts'
import type { CanonicalRequest, Message } from '../../src/canonical/request.ts'
import { type CanonicalResult, endContentOf, impliedReason } from '../../src/canonical/result.ts'
import { drain } from '../../src/canonical/transducer.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { READERS } from '../../src/ingress/index.ts'
import { opener } from '../builders/opener.ts'
import { MESSAGES_PATH } from '../builders/paths.ts'
import { FOREIGN } from '../builders/write-options.ts'
import { conversing } from '../laws/support.ts'

const { open } = opener()

/** The id of a message, as some services give their users. Numbers hold its first 16 digits only. */
const ID = '1187654321098765432'
const ARGUMENTS = `{"ids":[${ID},-9223372036854775808],"small":7}`

describe('parseExactly', () => {
  test.each([
    [`{"input":${ARGUMENTS}}`],
    [`{"contents":[{"b":1},[1,{"args":{"\\"c\\\\":"${ID}","d":[[],"]",${ID}]}}]],"e":1}`],
    [`{"steps":[{"arguments":[{},"",{"a":${ID}}]}]}`],
    [`{"steps":[{"arguments":{"__proto__":{"constructor":${ID}},"":${ID}}}]}`],
  ])('keeps the integers of calls in %s', text => {
    expect(JSON.stringify(parseExactly(text))).toBe(text)
  })

  test('reads blanks wherever JSON allows them', () => {
    const text = `{ "contents" :{ "response" : { "x" :\n ${ID} , "y":[ ] , "z" : [ {} , ${ID} ] } } }`
    expect(JSON.stringify(parseExactly(text))).toBe(`{"contents":{"response":{"x":${ID},"y":[],"z":[{},${ID}]}}}`)
  })

  test('leaves every other number a number, and everything else as JSON.parse has it', () => {
    const text = `{"seed":${ID},"tools":[{"max_uses":${ID},"parameters":${ID}}],"messages":[{"n":${ID}}],"input":{"exact":9007199254740992,"half":1.5,"e":1e400,"t":"${ID}"}}`
    expect(parseExactly(text)).toEqual(JSON.parse(text))
  })

  const SCHEMA = `{"type":"object","properties":{"user":{"enum":[${ID}]},"data":{"const":-${ID}}},"default":{"a":${ID}}}`
  test.each([
    `{"tools":[{"input_schema":${SCHEMA}}]}`,
    `{"tools":[{"type":"function","function":{"parameters":${SCHEMA}}}],"functions":[{"parameters":${SCHEMA}}]}`,
    `{"tools":[{"functionDeclarations":[{"parametersJsonSchema":${SCHEMA}}]}]}`,
    `{"toolConfig":{"tools":[{"toolSpec":{"inputSchema":{"json":${SCHEMA}}}}]}}`,
    `{"input":[{"type":"additional_tools","tools":[{"parameters":${SCHEMA}}]}]}`,
    `{"text":{"format":{"schema":${SCHEMA}}},"response_format":{"json_schema":{"schema":${SCHEMA}}}}`,
    `{"output_config":{"format":{"schema":${SCHEMA}}},"generationConfig":{"responseSchema":${SCHEMA}}}`,
  ])('keeps the integers of schemas, which a model repeats: %s', text => {
    expect(JSON.stringify(parseExactly(text))).toBe(text)
  })

  test('the last of two fields of one name counts', () => {
    expect(JSON.stringify(parseExactly(`{"input":{"a":${ID},"a":"b"}}`))).toBe('{"input":{"a":"b"}}')
    expect(JSON.stringify(parseExactly(`{"input":{"a":"b","a":${ID}}}`))).toBe(`{"input":{"a":${ID}}}`)
  })

  test('law: any value with large integers is written as it was', () => {
    const integer = fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n }).map(String)
    const { tree } = fc.letrec<{ tree: string }>(tie => ({
      tree: fc.oneof(
        { depthSize: 'small' },
        integer,
        fc.string().map(text => JSON.stringify(text)),
        fc.array(tie('tree')).map(items => `[${items.join()}]`),
        fc
          .uniqueArray(
            fc.tuple(
              fc.string({ minLength: 1 }).filter(name => !/^\d+$/.test(name)),
              tie('tree'),
            ),
            {
              selector: ([name]) => name,
            },
          )
          .map(fields => `{${fields.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join()}}`),
      ),
    }))
    fc.assert(
      fc.property(tree, text => {
        if (/^[[{]/.test(text)) expect(JSON.stringify(parseCallData(text))).toBe(text)
      }),
    )
  })

  test('a deep or a wide text costs no more than its length', () => {
    const timeOf = (size: number): number => {
      const text = `{"input":${'{"a":['.repeat(20)}${`${ID},`.repeat(size)}0${']}'.repeat(20)}}`
      const start = performance.now()
      for (let round = 0; round < 3; round++) parseExactly(text)
      return performance.now() - start
    }
    timeOf(1000)
    expect(timeOf(160_000) / timeOf(20_000)).toBeLessThan(40)
    expect(() => parseExactly(`{"input":${'['.repeat(5000)}${ID}${']'.repeat(5000)}}`)).not.toThrow()
  })

  test('the last result of a long conversation is exact, too', () => {
    const result = `{"response":{"ids":[${Array(50).fill(ID).join()}]}}`
    const text = `{"contents":[${Array(100).fill(result).join()}]}`
    expect(JSON.stringify(parseExactly(text))).toBe(text)
  })

  test('a name of a field is read once for all integers below it, because it may be long', () => {
    const text = `{"input":{"name":[${Array(500).fill(ID).join()}]}}`
    const parse = vi.spyOn(JSON, 'parse')
    try {
      parseExactly(text)
      // The text, and both names.
      expect(parse).toHaveBeenCalledTimes(3)
    } finally {
      parse.mockRestore()
    }
  })
})

const CALL: ToolCallPart = { type: 'tool-call', id: 'call_1', name: 'f', arguments: ARGUMENTS }
const asked: CanonicalRequest = { model: 'm', messages: [], output: {}, sampling: {}, stream: false }
const history: CanonicalRequest = {
  ...asked,
  tools: [{ type: 'function', name: 'f', parameters: { type: 'object' } }],
  messages: [
    { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
    { role: 'assistant', content: [CALL] },
    { role: 'tool', content: [{ type: 'tool-result', id: 'call_1', content: [{ type: 'text', text: 'ok' }] }] },
  ] satisfies Message[],
}
const answer: CanonicalResult = {
  ...{ id: 'a', model: 'm', createdAt: 1, usage: { input: 1, output: 1 } },
  candidates: [{ content: [CALL], finish: { reason: impliedReason(endContentOf({ content: [CALL] })) } }],
}
const overWire = <T extends object>(wire: T): T => parseExactly(JSON.stringify(wire)) as unknown as T
const argumentsIn = (content: readonly { readonly type: string }[] = []): readonly string[] =>
  content.flatMap(part => (part.type === 'tool-call' ? [(part as ToolCallPart).arguments] : []))

describe('large integers in schemas', () => {
  it.each(conversing('request'))('are written and read by %s, beside those that the format lacks', format => {
    const parameters = overWire({ type: 'object', properties: { user: { type: 'integer', default: 0 } } })
    const schema = JSON.stringify(parameters).replace('"default":0', `"default":${ID}`)
    const tools = [{ type: 'function' as const, name: 'f', parameters: parseCallData(schema) as never }]
    const { wire } = WRITERS[format]!.request!({ ...history, tools }, FOREIGN)
    expect(JSON.stringify(wire.body)).toContain(`"default":${ID}`)
    const read = READERS[format]!.request!({ ...wire, body: overWire(wire.body) })
    const again = WRITERS[format]!.request!({ ...read, model: 'other' }, FOREIGN).wire.body
    expect(JSON.stringify(again)).toContain(`"default":${ID}`)
  })
})

describe('large integers in the arguments of calls', () => {
  it.each(conversing('request'))('are written and read in a history of %s', format => {
    const { wire } = WRITERS[format]!.request!(history, FOREIGN)
    expect(JSON.stringify(wire.body)).toContain(ID)
    if (READERS[format]!.request === undefined) return
    const read = READERS[format]!.request!({ ...wire, body: overWire(wire.body) })
    expect(argumentsIn(read.messages.flatMap(({ content }) => content))).toEqual([ARGUMENTS])
  })

  it.each(conversing('result'))('are written and read in a whole answer of %s', format => {
    const { wire } = WRITERS[format]!.result!(answer, asked)
    const { candidates } = READERS[format]!.result!({ ...wire, body: overWire(wire.body) }, asked)
    expect(argumentsIn(candidates[0]?.content)).toEqual([ARGUMENTS])
  })

  it.each(conversing('events'))('are written and read in a stream of %s', format => {
    const events = drain(WRITERS[format]!.events!(asked), unfold(answer))
    const { candidates } = fold(drain(READERS[format]!.events!(asked), events))
    expect(argumentsIn(candidates[0]?.content)).toEqual([ARGUMENTS])
  })

  it('pass the gateway in both directions, in the same format', async () => {
    const block = `{"type":"tool_use","id":"t","name":"f","input":${ARGUMENTS}}`
    const script = (response: ServerResponse): void => {
      response.setHeader('content-type', 'application/json')
      response.end(
        `{"id":"m","type":"message","role":"assistant","model":"m","content":[${block}],"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":1}}`,
      )
    }
    const { testServer, upstream } = await open(script, {}, { format: 'messages' })
    const result = '{"type":"tool_result","tool_use_id":"t","content":"ok"}'
    const { text } = await testServer.ask(
      MESSAGES_PATH,
      `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":[${block}]},{"role":"user","content":[${result}]}]}`,
      { headers: { 'anthropic-version': '2023-06-01' } },
    )
    expect(text).toContain(ARGUMENTS)
    expect(upstream.seen[0]!.text).toContain(ARGUMENTS)
  })
})
