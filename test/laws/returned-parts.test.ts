import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Part } from '../../src/canonical/content.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import { EVERY_ECHO } from './echo.ts'
import { FORMATS, kept, sentTo, turnsIn } from './returned.ts'
import { holds } from './support.ts'

/*
 * Answers with citations, images, sound, files, searches and hosted tools, which callers return in their history:
 * whatever cannot be returned, no upstream refuses the next turn, and each text and call is in it once.
 */

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='
const SOUND = Buffer.concat([Buffer.from('RIFF\0\0\0\0WAVEfmt ', 'latin1'), Buffer.alloc(40)]).toString('base64')

const base64 = (kind: 'image' | 'audio' | 'file', mediaType: string, data: string): Part => ({
  ...{ type: 'media', kind, source: { type: 'base64', mediaType, data } },
})
const media = fc.constantFrom<Part>(
  base64('image', 'image/png', PIXEL),
  { ...base64('audio', 'audio/wav', SOUND), transcript: 'hi' } as Part,
  base64('file', 'application/pdf', SOUND),
  { type: 'media', kind: 'video', source: { type: 'url', mediaType: 'video/mp4', url: 'https://e.example/v.mp4' } },
)
const cited = fc.constantFrom(
  { url: 'https://e.example/a', title: 'A', quote: 'q', start: 0, end: 3 },
  { url: 'https://e.example/b' },
)
const text = fc.option(cited, { nil: undefined }).map(
  (one): Part => ({
    ...{ type: 'text', text: 'Said.' },
    ...(one === undefined ? {} : { annotations: [{ type: 'citation', ...one }] }),
  }),
)
const call = fc.constantFrom<Part>({ type: 'tool-call', id: 'c', name: 'f', arguments: '{"a":1}' })
const search = fc.constantFrom<readonly Part[]>(
  [
    { type: 'search-call', id: 'ws_1', queries: ['q'] },
    { type: 'search-result', id: 'ws_1', sources: [{ url: 'https://e.example/a', title: 'A' }] },
  ],
  [{ type: 'search-call', id: 'ws_2', queries: [] }],
)

/** Calls of hosted tools with their results, as upstreams of each format write them. */
const HOSTED: { readonly [format: string]: readonly JsonObject[] } = {
  messages: [
    { type: 'server_tool_use', id: 'srvtoolu_1', name: 'code_execution', input: { code: 'x' } },
    { type: 'code_execution_tool_result', tool_use_id: 'srvtoolu_1', content: { type: 'code_execution_result' } },
  ],
  responses: [{ type: 'mcp_call', id: 'mcp_1', name: 'x', server_label: 's', arguments: '{}', output: 'a' }],
  contents: [
    { executableCode: { language: 'PYTHON', code: 'x' } },
    { codeExecutionResult: { outcome: 'OUTCOME_OK', output: 'o' } },
  ],
  interactions: [
    { type: 'code_execution_call', id: 'ce_1', arguments: { language: 'python', code: 'x' } },
    { type: 'code_execution_result', call_id: 'ce_1', result: 'o' },
  ],
}
const hosted = (format: string) =>
  fc.constant((HOSTED[format] ?? []).map((value): Part => ({ type: 'opaque', format, value })))

/** Answers of an upstream, in which each text and each call can be told from the others. */
const answers = (format: string): fc.Arbitrary<readonly Part[]> =>
  fc
    .array(fc.oneof(...[text, call, media].map(one => one.map(part => [part])), ...[search, hosted(format)]), {
      minLength: 1,
      maxLength: 5,
    })
    .map(steps =>
      steps.flat().map((part, at): Part => {
        if (part.type === 'text') return { ...part, text: `${part.text}${at};` }
        return part.type === 'tool-call' ? { ...part, id: `c${at}`, arguments: `{"a":${at}}` } : part
      }),
    )

const textsOf = (parts: readonly Part[]): readonly string[] =>
  parts.flatMap(part => (part.type === 'text' ? [part.text] : []))
const callsOf = (parts: readonly Part[]): readonly string[] =>
  parts.flatMap(part => (part.type === 'tool-call' ? [`${part.name}(${part.arguments.replace(/\s/g, '')})`] : []))

const formats = fc.constantFrom(...FORMATS)

describe('an answer with parts of every kind comes back as history', () => {
  it.each(FORMATS)('from a caller of %s: any upstream gets each text and each call of it once', caller => {
    const journeys = fc
      .tuple(formats, formats)
      .chain(([from, to]) => answers(from).map(content => ({ from, to, content })))
    holds(journeys, ({ from, to, content }) => {
      const { own, whole, streamed } = kept(from, caller, content)
      for (const echoed of [whole, streamed]) {
        const got = turnsIn(to, sentTo(to, caller, EVERY_ECHO[caller]!.request(echoed))).flat()
        const said = textsOf(got).join('')
        for (const one of textsOf(own).flatMap(told => told.match(/Said\.\d+;/g) ?? []))
          expect(said.split(one).length).toBe(2)
        expect(callsOf(got)).toEqual(callsOf(own))
      }
    })
  })
})
