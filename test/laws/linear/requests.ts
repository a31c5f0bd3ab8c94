import type { Part } from '../../../src/canonical/content.ts'
import type { Json, JsonObject } from '../../../src/canonical/node.ts'
import type { CanonicalRequest, Message, Role } from '../../../src/canonical/request.ts'
import type { Tool } from '../../../src/canonical/tool.ts'
import { text } from '../../builders/messages.ts'
import { times } from './times.ts'

/* Requests of n nodes, one row per shape in which anybody could send them. */

export type Shape = (n: number) => Partial<CanonicalRequest>
const says = (role: Role, ...content: (Part | string)[]): Message => ({
  role,
  content: content.map(part => (typeof part === 'string' ? text(part) : part)),
})
const call = (id: string, name = 'look'): Part => ({ type: 'tool-call', id, name, arguments: '{"at":1}' })
const result = (id: string, ...more: Part[]): Part => ({ type: 'tool-result', id, content: [text('seen'), ...more] })
const thought = (index: number, format?: string): Part => ({
  type: 'reasoning',
  text: `thought ${index}`,
  ...(format === undefined ? {} : { signature: { format, value: `cHJvb2Y${index}` } }),
})
const picture: Part = {
  type: 'media',
  kind: 'image',
  source: { type: 'base64', mediaType: 'image/png', data: 'iVBORw0KGgo=' },
}
const link = (index: number): Part => ({
  type: 'media',
  kind: 'image',
  source: { type: 'url', url: `https://e.com/${index}` },
})

const asking = says('user', 'What is there?')
const tool = (name: string, parameters: JsonObject = { type: 'object', properties: {} }): Tool => ({
  type: 'function',
  name,
  description: 'Looks.',
  parameters,
})
const LOOK = tool('look')

const history = (...messages: Message[]): Partial<CanonicalRequest> => ({
  messages: [asking, ...messages, says('user', 'Go on.')],
  tools: [LOOK],
})
const turns = (n: number, make: (index: number) => Message[]) => history(...times(n, make).flat())

const schema = (parameters: JsonObject): Partial<CanonicalRequest> => ({
  messages: [asking],
  tools: [tool('look', parameters)],
  output: { text: { shape: 'schema', name: 'answer', schema: parameters } },
})
const names = (n: number) => times(n, index => `field_${index}`)
const named = (n: number, make: (index: number) => Json): JsonObject =>
  Object.fromEntries(names(n).map((name, index) => [name, make(index)]))
const object = (fields: JsonObject): JsonObject => ({
  type: 'object',
  properties: { a: { type: 'string' } },
  ...fields,
})
const LONG = 'a_name_that_is_longer_than_any_upstream_takes_it_'.repeat(3)

export const HISTORIES: { readonly [name: string]: Shape } = {
  'calls without results, a turn each': n =>
    turns(n, index => [says('assistant', call(`c${index}`)), says('user', 'And?')]),
  'calls without results, in one run': n => turns(n, index => [says('assistant', call(`c${index}`))]),
  'calls without results, in one message': n => history(says('assistant', ...times(n, index => call(`c${index}`)))),
  'calls without results behind the results of others': n =>
    history(
      says('assistant', ...times(2 * n, index => call(`c${index}`))),
      ...times(n, index => says('tool', result(`c${2 * index}`))),
    ),
  'results without calls, a message each': n => turns(n, index => [says('tool', result(`c${index}`))]),
  'results without calls, in one message': n => history(says('tool', ...times(n, index => result(`c${index}`)))),
  'results far from their calls': n =>
    history(
      ...times(n, index => [says('assistant', call(`c${index}`)), says('user', 'And?')]).flat(),
      ...times(n, index => says('tool', result(`c${index}`))),
    ),
  'results in reverse order': n =>
    history(
      says('assistant', ...times(n, index => call(`c${index}`))),
      ...times(n, index => says('tool', result(`c${n - 1 - index}`))),
    ),
  'results in reverse order, in one message': n =>
    history(
      says('assistant', ...times(n, index => call(`c${index}`))),
      says('tool', ...times(n, index => result(`c${n - 1 - index}`))),
    ),
  'results between words of the user': n =>
    history(
      says('assistant', ...times(n, index => call(`c${index}`))),
      ...times(n, index => [says('user', 'And?'), says('tool', result(`c${index}`))]).flat(),
    ),
  'calls and results in turns': n =>
    turns(n, index => [says('assistant', 'I look.', call(`c${index}`)), says('tool', result(`c${index}`))]),
  'one id for all calls of a run': n => turns(n, () => [says('assistant', call('c'))]),
  'one id for all calls of a message': n => history(says('assistant', ...times(n, () => call('c')))),
  'one id for all calls and results': n => turns(n, () => [says('assistant', call('c')), says('tool', result('c'))]),
  'one id for all results': n => history(says('assistant', call('c')), ...times(n, () => says('tool', result('c')))),
  'ids as they are made for calls without': n =>
    history(
      ...times(n, index => says('assistant', call(`call_${n + index}_look`))),
      ...times(n, () => says('assistant', call(''))),
    ),
  'ids that are not legal': n =>
    turns(n, index => [says('assistant', call(`c ${index} ${LONG}`)), says('tool', result(`c ${index} ${LONG}`))]),
  'calls of a name each': n =>
    turns(n, index => [says('assistant', call(`c${index}`, `look_${index}`)), says('tool', result(`c${index}`))]),
  'freeform calls': n => ({
    ...turns(n, index => [
      says('assistant', { ...call(`c${index}`), arguments: 'words', freeform: true } as Part),
      says('tool', { ...result(`c${index}`), freeform: true } as Part),
    ]),
    tools: [{ type: 'freeform', name: 'look' }],
  }),
  'pictures in results': n =>
    turns(n, index => [says('assistant', call(`c${index}`)), says('tool', result(`c${index}`, picture, link(index)))]),
  'pictures in the results of one run': n =>
    history(
      says('assistant', ...times(n, index => call(`c${index}`))),
      ...times(n, index => says('tool', result(`c${index}`, picture))),
    ),
  'parts of one result': n =>
    history(
      says('assistant', call('c')),
      says('tool', result('c', ...times(n, index => [text(`${index}`), link(index)]).flat())),
    ),
  'messages of the user in a run': n => turns(n, index => [says('user', `${index}`)]),
  'messages of the assistant in a run': n => turns(n, index => [says('assistant', `${index}`)]),
  'messages of the assistant in a run, calls and words': n =>
    history(
      ...times(n, index => says('assistant', 'I look.', call(`c${index}`), 'I looked.')),
      ...times(n, index => says('tool', result(`c${index}`))),
    ),
  'system messages first': n => ({ messages: [...times(n, index => says('system', `${index}`)), asking] }),
  'developer messages first': n => ({ messages: [...times(n, index => says('developer', `${index}`)), asking] }),
  'system and developer turns': n => turns(n, index => [says('system', `${index}`), says('developer', `${index}`)]),
  'system turns between calls and results': n =>
    turns(n, index => [
      says('assistant', call(`c${index}`)),
      says('system', `${index}`),
      says('tool', result(`c${index}`)),
    ]),
  'turns with names': n =>
    turns(n, index => [
      { ...says('user', 'Hi.'), name: `user_${index}` },
      { ...says('assistant', 'Hi.'), name: `assistant_${index}` },
    ]),
  'empty messages': n => turns(n, () => [says('assistant', ''), says('user', ''), { role: 'assistant', content: [] }]),
}

export const CONTENTS: { readonly [name: string]: Shape } = {
  'texts of one message of the user': n => ({ messages: [says('user', ...times(n, index => `${index}`))] }),
  'texts of one message of the assistant': n => history(says('assistant', ...times(n, index => `${index}`))),
  'texts of one system message': n => ({ messages: [says('system', ...times(n, index => `${index}`)), asking] }),
  'pictures of one message': n => ({ messages: [says('user', ...times(n, index => [picture, link(index)]).flat())] }),
  'pictures and words of one message': n => ({
    messages: [says('user', ...times(n, index => [`${index}`, picture]).flat())],
  }),
  'refusals of one message': n =>
    history(says('assistant', ...times(n, index => [{ type: 'refusal', text: 'no' } as Part, `${index}`]).flat())),
  'words and calls of one message': n =>
    history(
      says('assistant', ...times(n, index => [`${index}`, call(`c${index}`)]).flat()),
      says('tool', ...times(n, index => result(`c${index}`))),
    ),
  'thoughts of one message': n => history(says('assistant', ...times(n, index => thought(index)), 'Done.')),
  'pieces of one thought': n =>
    history(
      says(
        'assistant',
        ...times(n, index => ({ ...thought(index), ...(index > 0 ? { continues: true } : {}) }) as Part),
      ),
    ),
  ...Object.fromEntries(
    ['messages', 'contents', 'responses', 'chat'].flatMap(format => [
      [
        `thoughts of ${format} with proofs`,
        (n: number) => history(says('assistant', ...times(n, index => thought(index, format)), 'Done.')),
      ],
      [
        `thoughts of ${format} with proofs, and calls`,
        (n: number) =>
          turns(n, index => [
            says('assistant', thought(index, format), 'I look.', call(`c${index}`)),
            says('tool', result(`c${index}`)),
          ]),
      ],
      [
        `thoughts of ${format} with proofs, and calls, in one message`,
        (n: number) =>
          history(
            says('assistant', ...times(n, index => [thought(index, format), `${index}`, call(`c${index}`)]).flat()),
            ...times(n, index => says('tool', result(`c${index}`))),
          ),
      ],
    ]),
  ),
  'proofs without words': n =>
    history(
      says('assistant', ...times(n, index => [{ ...thought(index, 'contents'), text: '' } as Part, `${index}`]).flat()),
    ),
  'thoughts without proofs, and calls': n =>
    turns(n, index => [says('assistant', thought(index), call(`c${index}`)), says('tool', result(`c${index}`))]),
  'annotations of one text': n =>
    history(
      says('assistant', {
        type: 'text',
        text: 'word '.repeat(n),
        annotations: times(n, index => ({
          type: 'citation',
          url: `https://e.com/${index}`,
          title: 'A page',
          quote: 'word',
          start: index * 5,
          end: index * 5 + 4,
        })),
      } as Part),
    ),
  'cache markers': n => ({
    messages: times(n, index => says(index % 2 ? 'assistant' : 'user', { ...text(`${index}`), cache: {} } as Part)),
  }),
  'one long text': n => ({
    messages: [says('user', 'word '.repeat(10 * n)), says('assistant', '\n \t'.repeat(10 * n)), asking],
  }),
}

export const TOOLS: { readonly [name: string]: Shape } = {
  tools: n => ({ messages: [asking], tools: times(n, index => tool(`look_${index}`)) }),
  'tools with names that are alike when they are cut': n => ({
    messages: [asking, ...times(n, index => says('assistant', call(`c${index}`, `${LONG}${index}`)))],
    tools: times(n, index => tool(`${LONG}${index}`)),
  }),
  'tools with names that are alike when they are made legal': n => ({
    messages: [asking],
    tools: times(n, index => tool(`look.${index}`.replaceAll(/[0-9]/g, digit => '/.,:;!?+*#'[Number(digit)]!))),
  }),
  'tools of one name': n => ({ messages: [asking], tools: times(n, () => LOOK) }),
  'tools in groups': n => ({
    messages: [
      asking,
      ...times(n, index => says('assistant', { ...call(`c${index}`, 'look'), namespace: `g${index}` } as Part)),
    ],
    tools: times(n, index => ({ ...tool('look'), namespace: { name: `g${index}` } }) as Tool),
  }),
  'tools of one group': n => ({
    messages: [asking],
    tools: times(n, index => ({ ...tool(`look_${index}`), namespace: { name: 'g' } }) as Tool),
  }),
  'freeform tools': n => ({
    messages: [asking],
    tools: times(
      n,
      index => ({ type: 'freeform', name: `write_${index}`, grammar: { syntax: 'lark', definition: 'x' } }) as Tool,
    ),
    toolChoice: { mode: 'auto', only: times(n, index => `write_${index}`) },
  }),
  'hosted tools between others': n => ({
    messages: [asking],
    tools: times(n, index => [{ type: 'hosted', kind: 'web-search' } as Tool, tool(`look_${index}`)]).flat(),
  }),
  'tools that may be chosen': n => ({
    messages: [asking],
    tools: times(n, index => tool(`look_${index}`)),
    toolChoice: { mode: 'required', only: times(n, index => `look_${index}`) },
  }),
  'tools of any format that may be chosen': n => ({
    messages: [asking, ...times(n, index => says('assistant', call(`c${index}`, `look_${index}`)))],
    tools: times(
      n,
      index =>
        [
          { type: 'opaque', format: 'none', value: { type: 'odd', name: `odd_${index}` } } as Tool,
          tool(`look_${index}`),
        ] as const,
    ).flat(),
    toolChoice: { mode: 'auto', only: times(n, index => `odd_${index}`) },
  }),
  'tools that may be chosen and are not there': n => ({
    messages: [asking],
    tools: [LOOK],
    toolChoice: { mode: 'auto', only: ['look', ...times(n, index => `look_${index}`)] },
  }),
}

export const SCHEMAS: { readonly [name: string]: Shape } = {
  'values of an enum': n => schema(object({ properties: { a: { type: 'string', enum: names(n) } } })),
  'values of an enum that may be null': n =>
    schema(object({ properties: { a: { type: ['string', 'null'], enum: [...names(n), null] } } })),
  properties: n => schema(object({ properties: named(n, () => ({ type: 'string' })), required: names(n) })),
  'properties that are not required': n => schema(object({ properties: named(n, () => ({ type: 'object' })) })),
  'required names without properties': n => schema(object({ required: names(n) })),
  definitions: n =>
    schema(
      object({
        $defs: named(n, () => ({ type: 'string' })),
        properties: named(n, index => ({ $ref: `#/$defs/field_${index}` })),
      }),
    ),
  'references to one definition': n =>
    schema(
      object({
        $defs: { one: object({}) },
        properties: named(n, () => ({ $ref: '#/$defs/one', description: 'One.' })),
      }),
    ),
  'definitions that lead to the next': n =>
    schema(
      object({
        $defs: named(n, index => object({ properties: { next: { $ref: `#/$defs/field_${index + 1}` } } })),
        properties: { first: { $ref: '#/$defs/field_0' } },
      }),
    ),
  'pieces of allOf': n =>
    schema(object({ allOf: times(n, index => object({ properties: { [`field_${index}`]: { type: 'string' } } })) })),
  'pieces of allOf in properties': n =>
    schema(object({ properties: named(n, () => ({ allOf: [{ type: 'string' }, { minLength: 1 }] })) })),
  'choices of anyOf': n =>
    schema(object({ properties: { a: { anyOf: times(n, index => ({ type: 'string', const: `${index}` })) } } })),
  'choices of oneOf at the root': n =>
    schema({ type: 'object', oneOf: times(n, index => object({ required: [`field_${index}`] })) }),
  'types of one place': n => schema(object({ properties: { a: { type: times(n, () => 'string'), enum: names(n) } } })),
  'items of a tuple': n =>
    schema(object({ properties: { a: { type: 'array', prefixItems: times(n, () => ({ type: 'string' })) } } })),
  'unknown keywords': n => schema(object(named(n, () => 'x'))),
  'a deep schema': n => {
    let deep: JsonObject = { type: 'string' }
    for (let depth = 0; depth < n / 10; depth++) deep = object({ properties: { inner: deep }, required: ['inner'] })
    return schema(deep)
  },
}

export const SETTINGS: { readonly [name: string]: Shape } = {
  metadata: n => ({ messages: [asking], metadata: named(n, () => 'x') }),
  'stop sequences': n => ({ messages: [asking], sampling: { stop: names(n) } }),
  ...Object.fromEntries(
    ['chat', 'responses', 'messages', 'contents'].map(format => [
      `fields only ${format} knows`,
      (n: number) => ({ messages: [asking], extras: { [format]: named(n, () => 'x') } }),
    ]),
  ),
  ...Object.fromEntries(
    ['chat', 'responses', 'messages', 'contents'].map(format => [
      `fields of parts only ${format} knows`,
      (n: number) => ({
        messages: times(n, index =>
          says('user', { ...text(`${index}`), extras: { [format]: { odd: 1, null: null } } } as Part),
        ),
      }),
    ]),
  ),
}
