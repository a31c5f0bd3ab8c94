import { describe, expect, it } from 'vitest'
import type { Part } from '../../src/canonical/content.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import { workOf } from '../../src/canonical/work.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { refusableLosses } from '../../src/egress/losses.ts'
import { FORMAT_FACTS } from '../../src/formats/index.ts'
import { REQUEST } from '../builders/requests.ts'
import { FOREIGN } from '../builders/write-options.ts'
import { conversing } from './support.ts'

const asking = (output: CanonicalRequest['output'], ...content: Part[]): CanonicalRequest => ({
  ...REQUEST,
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi.' }, ...content] }],
  output,
})

const recording: Part = {
  type: 'media',
  kind: 'audio',
  source: { type: 'base64', mediaType: 'audio/wav', data: 'UklGRg==' },
}
const page: Part = {
  type: 'media',
  kind: 'file',
  source: { type: 'base64', mediaType: 'application/pdf', data: 'JVBERg==' },
}
const parameters = {
  type: 'object',
  properties: { a: { type: 'string' } },
  required: ['a'],
  additionalProperties: false,
}

/** Requests with only their required content, by that content. */
const BAREST: { readonly [about: string]: CanonicalRequest } = {
  question: asking({}),
  document: asking({}, page),
  'question with tools': { ...asking({}), tools: [{ type: 'function', name: 'f' }] },
  'question for an object': asking({ text: { shape: 'schema', schema: parameters } }),
  completion: asking({ completion: {} }),
  count: asking({ count: true }),
  embedding: asking({ modalities: ['embedding'] }),
  ranking: asking({ ranking: { query: 'q' } }),
  image: asking({ modalities: ['image'] }),
  speech: asking({ modalities: ['audio'] }),
  transcription: {
    ...asking({ transcript: { task: 'transcribe' } }),
    messages: [{ role: 'user', content: [recording] }],
  },
  video: asking({ modalities: ['video'] }),
}

/** Values that a writer must invent although they are not neutral, so that the request is rightly refused. */
const INVENTED: { readonly [pair: string]: readonly string[] } = {
  // There is no neutral purpose, and vectors of different purposes differ.
  'cohere: embedding': ['output/embedding/purpose purpose-required'],
  // Only texts and images can be shown.
  'cohere-chat: document': ['messages/0/content/1 no-file'],
  // A completion has no roles. A conversation model is told what to do with the text.
  ...Object.fromEntries(
    conversing('request').map(format => [`${format}: completion`, ['output/completion asked-as-a-question']]),
  ),
}

/** Declared facts about upstreams and models. Without them the longest answer and the default voice are unknown. */
const DECLARED: { readonly [format: string]: JsonObject } = {
  messages: { max_output: 64_000 },
  elevenlabs: { default_voice: 'george' },
}

const pairs = [...FORMAT_FACTS].flatMap(([format, { does }]) =>
  Object.entries(BAREST)
    .filter(([, request]) => does.includes(workOf(request)) && WRITERS[format]?.request !== undefined)
    .map(([about, request]) => [format, about, request] as const),
)

describe('what a format requires and a caller left unsaid refuses no request, where its value is neutral', () => {
  it.each(pairs)('%s: %s', (format, about, request) => {
    const { losses } = WRITERS[format]!.request!(request, { ...FOREIGN, dialect: DECLARED[format] ?? {} })
    const refused = refusableLosses(losses).map(({ path, reason }) => `${path.join('/')} ${reason}`)
    expect(refused).toEqual(INVENTED[`${format}: ${about}`] ?? [])
  })
})
