import type { JsonObject } from '../../../src/canonical/node.ts'
import { converseFrame, type Frame, framesIn } from '../../builders/frames.ts'
import {
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

/** Encodes an event, one character per byte. */
const frame = (event: string, payload: JsonObject): string => converseFrame(event, payload).toString('latin1')

const stopReason = ({ calls }: Scene): string => (calls === undefined ? 'end_turn' : 'tool_use')

const USED = {
  inputTokens: USAGE.input - USAGE.cached,
  cacheReadInputTokens: USAGE.cached,
  outputTokens: USAGE.output,
  totalTokens: USAGE.input + USAGE.output,
}
const LATE = { usage: USED, metrics: { latencyMs: 5 } }

const blocksOf = ({ thought, text, calls = [] }: Scene): Loose[] => [
  ...(thought === undefined ? [] : [{ reasoningContent: { reasoningText: { text: thought, signature: PROOF } } }]),
  ...(text === undefined ? [] : [{ text }]),
  ...calls.map(({ id, name, arguments: input }) => ({ toolUse: { toolUseId: id, name, input } })),
]

/** Returns the deltas of a block, with each text in two chunks. */
function deltasOf({ text, toolUse, reasoningContent }: Loose): JsonObject[] {
  if (text !== undefined) return halves(text).map(half => ({ text: half }))
  if (toolUse !== undefined) return halves(JSON.stringify(toolUse.input)).map(input => ({ toolUse: { input } }))
  const { text: said, signature } = reasoningContent.reasoningText
  return [...halves(said).map(half => ({ text: half })), { signature }].map(delta => ({ reasoningContent: delta }))
}

function framesOf(block: Loose, contentBlockIndex: number): string[] {
  const { toolUse } = block
  const start = toolUse && { toolUse: { toolUseId: toolUse.toolUseId, name: toolUse.name } }
  return [
    ...(start === undefined ? [] : [frame('contentBlockStart', { contentBlockIndex, start })]),
    ...deltasOf(block).map(delta => frame('contentBlockDelta', { contentBlockIndex, delta })),
    frame('contentBlockStop', { contentBlockIndex }),
  ]
}

function hearTurn({ role, content }: Loose, names: Map<string, string>): Heard[] {
  const of = (kind: string): Loose[] =>
    content.map((block: Loose) => block[kind]).filter((one: Loose) => one !== undefined)
  for (const { toolUseId, name } of of('toolUse')) names.set(toolUseId, name)
  const results = of('toolResult').map(({ toolUseId, content: output }) => ({
    name: names.get(toolUseId) ?? '?',
    output: outputOf(
      output.map((part: Loose) => (part.json === undefined ? part : { text: JSON.stringify(part.json) })),
    ),
  }))
  const said: Heard = {
    role,
    text: of('text').join(''),
    images: of('image').map(({ source }) => source.bytes),
    calls: of('toolUse').map(({ name, input }) => ({ name, arguments: input })),
    proofs: of('reasoningContent').map(({ reasoningText }) => reasoningText.signature),
  }
  const isSaid = content.some((block: Loose) => block.toolResult === undefined)
  return [...(results.length === 0 ? [] : [{ role: 'tool', text: '', results }]), ...(isSaid ? [said] : [])]
}

export const converse: UpstreamFormat = {
  dialect: { thinking: 'both' },
  stream: {
    contentType: 'application/vnd.amazon.eventstream',
    encoding: 'latin1',
    rewrite: (event, change) => {
      const [{ name, data }] = framesIn(Buffer.from(event, 'latin1')) as [Frame]
      return frame(name, JSON.parse(change(JSON.stringify(data))))
    },
  },
  whole: scene => ({
    output: { message: { role: 'assistant', content: blocksOf(scene) } },
    stopReason: stopReason(scene),
    ...LATE,
  }),
  frames: scene => [
    frame('messageStart', { role: 'assistant' }),
    ...blocksOf(scene).flatMap(framesOf),
    frame('messageStop', { stopReason: stopReason(scene) }),
    frame('metadata', LATE),
  ],
  breakOff: message => frame('modelStreamErrorException', { message }),
  error: (_, message) => ({ message }),
  hear: body => {
    const {
      messages,
      system = [],
      toolConfig,
      outputConfig,
      additionalModelRequestFields,
      inferenceConfig,
    } = body as Loose
    const names = new Map<string, string>()
    const rules = system.map((block: Loose) => block.text ?? '').join('')
    const schema = outputConfig?.textFormat?.structure?.jsonSchema?.schema
    const thinking = additionalModelRequestFields?.thinking
    return {
      turns: joined([
        ...(rules === '' ? [] : [{ role: 'system', text: rules }]),
        ...messages.flatMap((turn: JsonObject) => hearTurn(turn, names)),
      ]),
      tools: (toolConfig?.tools ?? []).flatMap(({ toolSpec }: Loose) =>
        toolSpec === undefined ? [] : [toolSpec.name],
      ),
      schema: schema === undefined ? undefined : JSON.parse(schema),
      thinks: thinking !== undefined && thinking.type !== 'disabled',
      limit: inferenceConfig?.maxTokens,
    }
  },
  streams: url => url.endsWith('/converse-stream'),
}
