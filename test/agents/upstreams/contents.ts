import * as v from 'valibot'
import type { JsonObject } from '../../../src/canonical/node.ts'
import { type Loose, PROOF, type Scene, type UpstreamFormat } from '../../clients/scene.ts'
import { contents as format } from '../../clients/upstreams/contents.ts'
import { camelled, requestTable } from './contents-table.ts'
import { type Issued, type StrictUpstream, twice } from './strict.ts'

/* Google's contents format as two generations of Gemini take it. */

interface Generation {
  /**
   * Whether calls have ids, and the first call of a step has a signature that must be returned (ai.google.dev: thought
   * signatures).
   */
  readonly insists: boolean
}

const callsOf = ({ parts }: Loose): Loose[] => parts.filter((part: Loose) => part.functionCall !== undefined)
const resultsOf = ({ parts }: Loose): Loose[] => parts.filter((part: Loose) => part.functionResponse !== undefined)
const said = (body: JsonObject): Loose => camelled(body)

/** Merges consecutive turns of one role. Chats in Google's own SDKs write each chunk of a stream as a turn. */
function turnsOf(contents: readonly Loose[]): Loose[] {
  const turns: Loose[] = []
  for (const { role = 'user', parts } of contents) {
    const last = turns.at(-1)
    if (last?.role === role) last.parts = [...last.parts, ...parts]
    else turns.push({ role, parts: [...parts] })
  }
  return turns
}

/** Checks that calls come after a user turn, and that exactly their results follow. */
function* callFaults(contents: readonly Loose[]): Generator<string> {
  // The last text of the model may be empty. Chats in Google's SDKs return the last chunk of a stream.
  if (contents.some(({ role, parts }) => role === 'user' && parts.some((part: Loose) => part.text === '')))
    yield 'contents: a text of the user is empty'
  for (const [index, content] of contents.entries()) {
    const at = `contents[${index}]`
    const calls = callsOf(content)
    const results = resultsOf(content)
    if (calls.length > 0 && (content.role !== 'model' || index === 0))
      yield `${at}: function call turn has to come immediately after a user turn or after a function response turn`
    const before = index === 0 ? [] : callsOf(contents[index - 1])
    if (results.length !== before.length)
      yield `${at}: ${results.length} function response parts for the ${before.length} function call parts before them`
    for (const [place, { functionCall }] of before.entries()) {
      const { functionResponse } = results[place]
      if (functionResponse.name !== functionCall.name || functionResponse.id !== functionCall.id)
        yield `${at}: a response of ${functionResponse.name} ${functionResponse.id} for ${functionCall.name} ${functionCall.id}`
    }
  }
  if (callsOf(contents.at(-1)).length > 0) yield 'contents: the last turn has calls that nobody answered'
}

function* signatureFaults(contents: readonly Loose[], issued: readonly Issued[]): Generator<string> {
  const isAsked = ({ role, parts }: Loose): boolean =>
    role === 'user' && parts.some((part: Loose) => part.functionResponse === undefined)
  const current = contents.findLastIndex(isAsked)
  for (const [index, content] of contents.entries()) {
    const [first] = callsOf(content)
    if (index > current && first !== undefined && first.thoughtSignature === undefined)
      yield `Function call is missing a thought_signature in functionCall parts: ${first.functionCall.name}, contents[${index}]`
    for (const { thoughtSignature, functionCall } of content.parts) {
      if (thoughtSignature === undefined || NO_PROOF.has(thoughtSignature)) continue
      const source = issued.find(({ proof }) => proof === thoughtSignature)
      if (source === undefined) yield `contents[${index}]: Corrupted thought signature.`
      else if (functionCall?.name !== source.name)
        yield `contents[${index}]: the signature of ${source.name} is elsewhere`
    }
  }
}

/** Values that Google takes in place of a missing signature. */
const NO_PROOF = new Set(['skip_thought_signature_validator', 'context_engineering_is_the_way_to_go'])

function* toolFaults({ tools = [], toolConfig, contents }: Loose): Generator<string> {
  const names = namesIn(tools)
  if (twice(names) !== undefined) yield `tools: Duplicate function declaration found: ${twice(names)}`
  if (names.length === 0 && toolConfig?.functionCallingConfig !== undefined)
    yield 'Function calling config is set without function_declarations.'
  for (const { functionCall } of contents.flatMap(callsOf))
    if (!names.includes(functionCall.name)) yield `contents: a call of ${functionCall.name}, which is no tool`
}

const namesIn = (tools: readonly Loose[]): string[] =>
  tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations.map(({ name }: Loose) => name))

function* faults(body: JsonObject, issued: readonly Issued[], { insists }: Generation): Generator<string> {
  const { contents: written, ...rest } = said(body)
  const contents = turnsOf(written)
  if (contents[0].role === 'model') yield 'contents: the first turn has to be the user’s'
  yield* callFaults(contents)
  if (insists) yield* signatureFaults(contents, issued)
  yield* toolFaults({ contents, ...rest })
}

/**
 * Puts the signature of a text without calls into its last part, which is empty in a stream (ai.google.dev: thought
 * signatures).
 */
const signed: Pick<UpstreamFormat, 'whole' | 'frames'> = {
  whole: scene => {
    const answer: Loose = format.whole(scene)
    if (isPlain(scene)) answer.candidates[0].content.parts.at(-1).thoughtSignature = PROOF
    return answer
  },
  frames: scene => {
    const frames = format.frames(scene)
    const end = frames.at(-1)!.replace('{"text":""}', JSON.stringify({ text: '', thoughtSignature: PROOF }))
    return isPlain(scene) ? frames.with(-1, end) : frames
  },
}
const isPlain = ({ thought, calls = [] }: Scene): boolean => thought !== undefined && calls.length === 0

const upstream = (name: string, model: string, generation: Generation): StrictUpstream => ({
  ...{ name, model, formatName: 'contents', provider: 'google', basePath: '' },
  format: { ...format, ...(generation.insists ? signed : {}), hear: body => format.hear(said(body)) },
  path: new RegExp(
    `^/v1beta/models/${model.replaceAll('.', '\\.')}:(streamGenerateContent\\?alt=sse|generateContent)$`,
  ),
  counts: { path: /:countTokens$/, answer: { totalTokens: 100 } },
  table: v.pipe(v.any(), v.transform(camelled), requestTable),
  faults: (body, issued) => faults(body, issued, generation),
  tools: body => namesIn(said(body).tools ?? []).map(tool => ({ name: tool })),
  parallel: () => true,
  thought: (body, thought) => (said(body).generationConfig?.thinkingConfig?.includeThoughts === true ? thought : ''),
  proofs: body =>
    said(body).contents.flatMap(({ parts }: Loose) =>
      parts.flatMap(({ thoughtSignature: proof = [] }: Loose) => (NO_PROOF.has(proof) ? [] : proof)),
    ),
  callId: n => (generation.insists ? String(n).padStart(8, 'g') : ''),
  remembers: true,
})

export const contents = upstream('contents', 'gemini-2.5-pro', { insists: false })
export const gemini3 = upstream('gemini-3', 'gemini-3-pro-preview', { insists: true })
