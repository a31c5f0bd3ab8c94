import {
  hostedKind,
  type MediaFacts,
  type Part,
  protoMediaOf,
  type RawTurn,
  type RequestFacts,
  type ResultFacts,
  toolsByName,
  turnsOf,
} from '../../facts.ts'
import { canonical, compact, type Json, type JsonObject, listOf, numberOf, objectOf, textOf } from '../../json.ts'
import { callFacts } from './answer.ts'
import { asJsonSchema } from './schema-subset.ts'
import { Reasoning } from './signatures.ts'

/* Extracts the facts of a generateContent request. */

function mediaFacts({ inlineData, fileData }: JsonObject): MediaFacts {
  const { mimeType, data, displayName } = objectOf(inlineData)
  if (inlineData !== undefined)
    return compact({ ...protoMediaOf(textOf(mimeType), textOf(data) ?? ''), name: textOf(displayName) })
  const { fileUri, mimeType: type } = objectOf(fileData)
  return compact({ type: textOf(type), address: textOf(fileUri) })
}

/**
 * Returns the text of a response: the field `output`, `result` or `error` if it is the only field, otherwise the JSON.
 */
function resultFacts({ response, parts }: JsonObject): ResultFacts {
  const fields = Object.entries(objectOf(response))
  const [name, value] = fields.length === 1 ? fields[0]! : []
  const isPlain = name === 'output' || name === 'result' || name === 'error'
  const resultText = isPlain ? value : response
  return compact({
    text: typeof resultText === 'string' ? resultText : canonical(resultText),
    media: listOf(parts).map(part => mediaFacts(objectOf(part))),
    isError: name === 'error' || undefined,
  }) as ResultFacts
}

/** Matches responses to calls by id, or else by name in the order of the calls. */
class CallPairing {
  private readonly open = new Map<string, string[]>()
  private calls = 0

  /** Returns an id for the call that is unique within the request. */
  addCall(name: string, id: string | undefined): string {
    const key = `${this.calls++}`
    for (const one of [`name:${name}`, ...(id === undefined ? [] : [`id:${id}`])])
      this.open.set(one, [...(this.open.get(one) ?? []), key])
    return key
  }

  matchResponse(name: string, id: string | undefined): string | undefined {
    const key = this.open.get(`id:${id}`)?.[0] ?? this.open.get(`name:${name}`)?.[0]
    for (const [one, keys] of this.open)
      this.open.set(
        one,
        keys.filter(other => other !== key),
      )
    return key
  }
}

function partOf(part: JsonObject, pairing: CallPairing): Part[] {
  const { text, functionCall, functionResponse } = part
  if (typeof text === 'string') return text === '' ? [] : [{ kind: 'text', text }]
  if (functionCall !== undefined) {
    const call = callFacts(part)
    return [{ kind: 'call', call: { ...call, id: pairing.addCall(call.name ?? '', call.id) } }]
  }
  if (functionResponse !== undefined) {
    const response = objectOf(functionResponse)
    const callId = pairing.matchResponse(textOf(response['name']) ?? '', textOf(response['id']))
    return [{ kind: 'result', result: resultFacts(response), ...(callId === undefined ? {} : { callId }) }]
  }
  if (part['inlineData'] === undefined && part['fileData'] === undefined) return []
  return [{ kind: 'media', media: mediaFacts(part) }]
}

/** Reads one content. Its reasoning comes first, as in answers. */
function turnOf(value: Json, pairing: CallPairing): RawTurn {
  const { role, parts } = objectOf(value)
  const reasoning = new Reasoning()
  const others = listOf(parts)
    .map(objectOf)
    .filter(part => !reasoning.take(part))
  const thoughts = reasoning.facts.map(one => ({ kind: 'reasoning', reasoning: one }) as const)
  return {
    role: role === 'model' ? 'assistant' : 'user',
    parts: [...thoughts, ...others.flatMap(part => partOf(part, pairing))],
  }
}

function toolsOf(body: JsonObject): RequestFacts['tools'] {
  const facts: [string, object][] = []
  for (const tool of listOf(body['tools']).map(objectOf)) {
    const { functionDeclarations, ...hosted } = tool
    for (const kind of Object.keys(hosted).map(hostedKind)) facts.push([kind, { kind }])
    for (const value of listOf(functionDeclarations)) {
      const { name, description, parameters, parametersJsonSchema } = objectOf(value)
      const toolSchema = parametersJsonSchema ?? parameters
      const schema = toolSchema === undefined ? undefined : asJsonSchema(toolSchema)
      facts.push([textOf(name) ?? '', compact({ description: textOf(description), parameters: schema })])
    }
  }
  return toolsByName(facts)
}

function choiceOf({ toolConfig }: JsonObject): string | undefined {
  const { mode, allowedFunctionNames } = objectOf(objectOf(toolConfig)['functionCallingConfig'])
  if (mode === 'NONE') return 'none'
  if (mode !== 'ANY') return undefined
  const names = listOf(allowedFunctionNames)
  return names.length === 1 ? `tool:${String(names[0])}` : 'required'
}

function outputOf(config: JsonObject): RequestFacts['output'] {
  const { responseMimeType, responseSchema, responseJsonSchema } = config
  const schema = responseJsonSchema ?? (responseSchema === undefined ? undefined : asJsonSchema(responseSchema))
  if (schema !== undefined) return { kind: 'schema', schema }
  return responseMimeType === 'application/json' ? { kind: 'json' } : undefined
}

function reasoningOf(config: JsonObject): RequestFacts['reasoning'] {
  const { thinkingBudget, thinkingLevel, includeThoughts } = objectOf(config['thinkingConfig'])
  const budget = numberOf(thinkingBudget)
  const effort = textOf(thinkingLevel)?.toLowerCase()
  if (budget === undefined && effort === undefined && includeThoughts !== true) return undefined
  if (budget === 0) return { wanted: false }
  return compact({ wanted: true, effort, budget: budget === -1 ? undefined : budget }) as NonNullable<
    RequestFacts['reasoning']
  >
}

function settingsOf(config: JsonObject): RequestFacts['settings'] {
  const candidates = numberOf(config['candidateCount'])
  return compact({
    limit: numberOf(config['maxOutputTokens']),
    temperature: numberOf(config['temperature']),
    topP: numberOf(config['topP']),
    topK: numberOf(config['topK']),
    stop: listOf(config['stopSequences']).flatMap(one => textOf(one) ?? []),
    seed: numberOf(config['seed']),
    presencePenalty: numberOf(config['presencePenalty']),
    frequencyPenalty: numberOf(config['frequencyPenalty']),
    candidates: candidates === 1 ? undefined : candidates,
    topLogprobs: config['responseLogprobs'] === true ? (numberOf(config['logprobs']) ?? 0) : undefined,
  }) as RequestFacts['settings']
}

const textsOf = (content: Json | undefined): string[] =>
  listOf(objectOf(content)['parts']).flatMap(part => textOf(objectOf(part)['text']) ?? [])

/** Returns the facts of a request. The path states whether a stream is requested. */
export function requestFacts(body: JsonObject, path: string): RequestFacts {
  const config = objectOf(body['generationConfig'])
  const pairing = new CallPairing()
  return compact({
    system: textsOf(body['systemInstruction']).join('\n\n') || undefined,
    turns: turnsOf(listOf(body['contents']).map(content => turnOf(content, pairing))),
    tools: toolsOf(body),
    toolChoice: choiceOf(body),
    settings: settingsOf(config),
    output: outputOf(config),
    reasoning: reasoningOf(config),
    stream: path.includes(':streamGenerateContent') || undefined,
  }) as RequestFacts
}
