import type { JsonObject } from '../../../src/canonical/node.ts'
import {
  frame,
  type Heard,
  halves,
  joined,
  type Loose,
  outputOf,
  PROOF,
  type Scene,
  type UpstreamFormat,
  USAGE,
} from '../scene.ts'

const usageMetadata = {
  promptTokenCount: USAGE.input,
  cachedContentTokenCount: USAGE.cached,
  candidatesTokenCount: USAGE.output - USAGE.thought,
  thoughtsTokenCount: USAGE.thought,
  totalTokenCount: USAGE.input + USAGE.output,
}

const HEAD = { modelVersion: 'm', responseId: 'up', usageMetadata }

/** Returns the parts of an answer. The first call has the signature of the reasoning before it. A text has none. */
const partsOf = ({ thought, text, calls = [] }: Scene): JsonObject[] => [
  ...(thought === undefined || thought === '' ? [] : [{ text: thought, thought: true }]),
  ...(text === undefined ? [] : [{ text }]),
  ...calls.map(({ id, name, arguments: args }, index) => ({
    functionCall: { ...(id === '' ? {} : { id }), name, args },
    ...(thought !== undefined && index === 0 ? { thoughtSignature: PROOF } : {}),
  })),
]

const piece = (parts: readonly JsonObject[], end = {}): string =>
  `data: ${JSON.stringify({ candidates: [{ content: { role: 'model', parts }, index: 0, ...end }], ...HEAD })}\r\n\r\n`

/** Value that Google takes in place of a signature that it did not issue (trap 31). */
const NO_PROOF = 'skip_thought_signature_validator'

function hearTurn({ role, parts }: Loose, names: Map<string, string>): Heard[] {
  const results = parts.flatMap(({ functionResponse }: Loose) =>
    functionResponse === undefined
      ? []
      : [{ name: functionResponse.name, output: outputOf(functionResponse.response) }],
  )
  for (const { functionCall } of parts)
    if (functionCall?.id !== undefined) names.set(functionCall.id, functionCall.name)
  const said: Heard = {
    role: role === 'model' ? 'assistant' : 'user',
    text: parts.map(({ text, thought }: Loose) => (thought ? '' : (text ?? ''))).join(''),
    images: parts.flatMap(({ inlineData }: Loose) => (inlineData === undefined ? [] : [inlineData.data])),
    calls: parts.flatMap(({ functionCall }: Loose) =>
      functionCall === undefined ? [] : [{ name: functionCall.name, arguments: functionCall.args ?? {} }],
    ),
    proofs: parts.flatMap(({ thoughtSignature = NO_PROOF }: Loose) =>
      thoughtSignature === NO_PROOF ? [] : thoughtSignature,
    ),
  }
  const isSaid = results.length < parts.length
  return [...(results.length === 0 ? [] : [{ role: 'tool', text: '', results }]), ...(isSaid ? [said] : [])]
}

const STATUS: { readonly [status: number]: string } = {
  ...{ 400: 'INVALID_ARGUMENT', 401: 'UNAUTHENTICATED', 403: 'PERMISSION_DENIED', 404: 'NOT_FOUND' },
  ...{ 429: 'RESOURCE_EXHAUSTED', 500: 'INTERNAL', 503: 'UNAVAILABLE', 504: 'DEADLINE_EXCEEDED' },
}

const error = (code: number, message: string): JsonObject => ({
  error: { code, message, status: STATUS[code] ?? 'UNKNOWN' },
})

export const contents: UpstreamFormat = {
  whole: scene => ({
    candidates: [{ content: { role: 'model', parts: partsOf(scene) }, finishReason: 'STOP', index: 0 }],
    ...HEAD,
  }),
  frames: scene => {
    const pieces = partsOf(scene).flatMap(part =>
      typeof part['text'] === 'string' ? halves(part['text']).map(text => piece([{ ...part, text }])) : [piece([part])],
    )
    return [...pieces, piece([{ text: '' }], { finishReason: 'STOP' })]
  },
  breakOff: message => frame(error(500, message)),
  error,
  hear: body => {
    const { contents, systemInstruction, tools = [], generationConfig = {} } = body as Loose
    const names = new Map<string, string>()
    const rules = (systemInstruction?.parts ?? []).map((part: Loose) => part.text).join('')
    return {
      turns: joined([
        ...(rules === '' ? [] : [{ role: 'system', text: rules }]),
        ...contents.flatMap((turn: JsonObject) => hearTurn(turn, names)),
      ]),
      tools: tools.flatMap((tool: Loose) => (tool.functionDeclarations ?? []).map((one: Loose) => one.name)),
      schema: generationConfig.responseJsonSchema ?? generationConfig.responseSchema,
      thinks: generationConfig.thinkingConfig !== undefined,
      limit: generationConfig.maxOutputTokens,
    }
  },
  streams: url => url.includes(':streamGenerateContent'),
}
