import type { Loose } from '../../clients/scene.ts'
import { converse as format } from '../../clients/upstreams/converse.ts'
import { requestTable } from './converse-table.ts'
import { type Issued, type StrictUpstream, twice } from './strict.ts'

/* Amazon Bedrock's Converse with a Claude that itself decides how long it thinks. */

const MODEL = 'us.anthropic.claude-opus-4-8'

const inside = ({ content }: Loose, kind: string): Loose[] =>
  content.flatMap((block: Loose) => (block[kind] === undefined ? [] : [block[kind]]))
const calls = (turn: Loose): string[] => inside(turn, 'toolUse').map(({ toolUseId }) => toolUseId)

/** Checks that turns alternate, and that exactly the results of its calls follow a turn. */
function* turnFaults(turns: readonly Loose[]): Generator<string> {
  if (turns[0].role !== 'user') yield 'A conversation must start with a user message.'
  const ids = turns.flatMap(calls)
  if (twice(ids) !== undefined) yield `The toolUse ids must be unique: ${twice(ids)}`
  for (const [index, turn] of turns.entries()) {
    const at = `messages.${index}`
    if (index > 0 && turn.role === turns[index - 1].role) yield `${at}: A conversation must alternate between roles.`
    const wanted = index === 0 || turn.role === 'assistant' ? [] : calls(turns[index - 1])
    const given = inside(turn, 'toolResult').map(({ toolUseId }) => toolUseId)
    if (String([...given].sort()) !== String([...wanted].sort()))
      yield `Expected toolResult blocks at ${at}.content for the following Ids: ${wanted}, found: ${given}`
    if (turn.content.slice(0, given.length).some((block: Loose) => block.toolResult === undefined))
      yield `${at}: toolResult blocks have to come first`
    if (turn.content.some((block: Loose) => block.document !== undefined) && inside(turn, 'text').length === 0)
      yield `${at}: A text block must be included when using documents.`
  }
  if (turns.at(-1).role === 'assistant') yield 'This model does not support assistant message prefill.'
}

/** Checks that reasoning is returned unchanged, before everything else in its turn. */
function* reasoningFaults(turns: readonly Loose[], issued: readonly Issued[]): Generator<string> {
  for (const [index, turn] of turns.entries())
    for (const { reasoningText } of inside(turn, 'reasoningContent')) {
      const source = issued.find(({ proof }) => proof === reasoningText?.signature)
      if (source === undefined) yield `messages.${index}: Invalid \`signature\` in \`thinking\` block`
      else if (source.thought !== reasoningText.text) yield `messages.${index}: \`thinking\` blocks cannot be modified`
      if (turn.content[0].reasoningContent === undefined) yield `messages.${index}: reasoning has to come first`
    }
}

function* settingFaults(body: Loose): Generator<string> {
  const { inferenceConfig = {}, additionalModelRequestFields: { thinking, top_k } = {} as Loose } = body
  if (thinking?.type === 'enabled') yield '"thinking.type.enabled" is not supported for this model.'
  if (top_k !== undefined || inferenceConfig.temperature !== undefined || inferenceConfig.topP !== undefined)
    yield '`temperature`, `topP` and `top_k` are not supported for this model'
  const names = toolsIn(body).map(({ name }) => name)
  if (twice(names) !== undefined) yield `The tool ${twice(names)} is already defined.`
  const isUsed = body.messages.some((turn: Loose) => [...calls(turn), ...inside(turn, 'toolResult')].length > 0)
  if (isUsed && body.toolConfig === undefined)
    yield 'The toolConfig field must be defined when using toolUse and toolResult content blocks.'
  for (const { name } of body.messages.flatMap((turn: Loose) => inside(turn, 'toolUse')))
    if (!names.includes(name)) yield `messages: a call of ${name}, which is no tool`
}

function* cacheFaults({ messages, system = [], toolConfig }: Loose): Generator<string> {
  const lists = [system, toolConfig?.tools ?? [], ...messages.map(({ content }: Loose) => content)]
  const points = lists.flat().filter((block: Loose) => block.cachePoint !== undefined)
  if (points.length > 4) yield `A maximum of 4 blocks with cache_control may be provided. Found ${points.length}.`
  for (const blocks of lists)
    for (const [index, { cachePoint }] of blocks.entries()) {
      const previous = index === 0 ? undefined : blocks[index - 1]
      if (cachePoint !== undefined && (previous === undefined || previous.document !== undefined))
        yield 'A cachePoint cannot stand alone or right behind a document.'
    }
}

const toolsIn = ({ toolConfig }: Loose): { readonly name: string }[] =>
  (toolConfig?.tools ?? []).flatMap(({ toolSpec }: Loose) => (toolSpec === undefined ? [] : [{ name: toolSpec.name }]))

export const converse: StrictUpstream = {
  ...{ name: 'converse', formatName: 'converse', format, provider: 'bedrock-converse', basePath: '' },
  ...{ model: MODEL, settings: { region: 'us-east-1' } },
  path: new RegExp(`^/model/${MODEL.replaceAll('.', '\\.')}/converse(-stream)?$`),
  counts: { path: /^\/model\/anthropic\.[\w.-]+\/count-tokens$/, answer: { inputTokens: 100 } },
  table: requestTable,
  *faults(body, issued) {
    yield* turnFaults(body.messages)
    yield* reasoningFaults(body.messages, issued)
    yield* settingFaults(body)
    yield* cacheFaults(body)
  },
  tools: toolsIn,
  parallel: () => true,
  thought: ({ additionalModelRequestFields: { thinking } = {} as Loose }, thought) => {
    if (thinking === undefined || thinking.type === 'disabled') return undefined
    return (thinking.display ?? 'omitted') === 'omitted' ? '' : thought
  },
  proofs: ({ messages }) =>
    messages
      .flatMap((turn: Loose) => inside(turn, 'reasoningContent'))
      .flatMap(({ reasoningText }: Loose) => reasoningText?.signature ?? []),
  callId: n => `tooluse_${String(n).padStart(22, 'B')}`,
  remembers: true,
}
