import {
  type AnswerFacts,
  type CallFacts,
  type CandidateFacts,
  type Finish,
  logprobOf,
  orderOf,
  type Part,
  protoMediaOf,
} from '../../facts.ts'
import { compact, type Json, type JsonObject, listOf, numberOf, objectOf, textOf } from '../../json.ts'
import { Reasoning, signatureOf } from './signatures.ts'
import { usageFacts } from './usage.ts'

/* Extracts the facts of a generateContent answer. */

const BLOCKED_REASONS = ['SAFETY', 'RECITATION', 'LANGUAGE', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII', 'MODEL_ARMOR']

const FINISHES: { readonly [reason: string]: Finish } = {
  ...{ STOP: 'stop', MAX_TOKENS: 'length', CONTINUATION: 'paused' },
  ...Object.fromEntries(BLOCKED_REASONS.map(reason => [reason, 'filtered' as const])),
}

/** Returns the finish reason. `STOP` also ends answers with calls. */
function finishOf(reason: string | undefined, calls: number): Finish | undefined {
  if (reason === undefined) return undefined
  const known = FINISHES[reason] ?? `other:${reason}`
  return known === 'stop' && calls > 0 ? 'calls' : known
}

export const callFacts = (part: JsonObject): CallFacts => {
  const { id, name, args } = objectOf(part['functionCall'])
  const facts = compact({ id: textOf(id), name: textOf(name), signature: signatureOf(part) })
  return { ...facts, arguments: args ?? {} }
}

function citationsOf({ groundingMetadata, citationMetadata }: JsonObject): string[] {
  const { citationSources, citations } = objectOf(citationMetadata)
  const chunks = listOf(objectOf(groundingMetadata)['groundingChunks']).map(chunk => objectOf(objectOf(chunk)['web']))
  return [...chunks, ...listOf(citationSources ?? citations).map(objectOf)].flatMap(({ uri }) => textOf(uri) ?? [])
}

/** Returns the facts of the chosen tokens. Their alternatives are in a parallel list. */
function logprobsOf({ chosenCandidates: chosen, topCandidates: tops }: JsonObject) {
  return listOf(chosen).map((value, index) => {
    const { token, logProbability } = objectOf(value)
    const alternatives = listOf(objectOf(listOf(tops)[index])['candidates']).map(objectOf)
    return logprobOf(
      textOf(token),
      numberOf(logProbability),
      alternatives.map(one => [textOf(one['token']) ?? '', one['logProbability'] ?? null]),
    )
  })
}

/** Returns the kind of a part, or undefined for a part without content. */
function kindOf(part: JsonObject): Part['kind'] | undefined {
  if (part['functionCall'] !== undefined) return 'call'
  if (part['inlineData'] !== undefined) return 'media'
  if (!textOf(part['text'])) return undefined
  return part['thought'] === true ? 'reasoning' : 'text'
}

function candidateOf(value: Json): CandidateFacts {
  const candidate = objectOf(value)
  const reasoning = new Reasoning()
  const kinds = listOf(objectOf(candidate['content'])['parts']).flatMap(part => kindOf(objectOf(part)) ?? [])
  const parts = listOf(objectOf(candidate['content'])['parts'])
    .map(objectOf)
    .filter(part => !reasoning.take(part))
  const calls = parts.filter(part => part['functionCall'] !== undefined).map(callFacts)
  const media = parts.map(part => objectOf(part['inlineData'])).filter(({ data }) => typeof data === 'string')
  return compact({
    order: orderOf(kinds.map(kind => ({ kind }))),
    text: parts.map(part => textOf(part['text']) ?? '').join('') || undefined,
    reasoning: reasoning.facts,
    calls,
    media: media.map(({ mimeType, data }) => protoMediaOf(textOf(mimeType), String(data))),
    citations: citationsOf(candidate),
    logprobs: logprobsOf(objectOf(candidate['logprobsResult'])),
    finish: finishOf(textOf(candidate['finishReason']), calls.length),
  }) as CandidateFacts
}

/** Returns the facts of a whole answer or of an assembled stream. If the prompt was blocked, there is no candidate. */
export function answerFacts(body: JsonObject): AnswerFacts {
  const candidates = listOf(body['candidates']).map(candidateOf)
  const isBlocked = candidates.length === 0 && objectOf(body['promptFeedback'])['blockReason'] !== undefined
  return compact({
    candidates: isBlocked ? [{ finish: 'filtered' }] : candidates,
    usage: usageFacts(objectOf(body['usageMetadata'])),
  }) as AnswerFacts
}
