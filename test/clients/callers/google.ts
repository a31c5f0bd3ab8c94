import {
  ApiError,
  type Content,
  type GenerateContentResponse,
  GoogleGenAI,
  type Part,
  ThinkingLevel,
} from '@google/genai'
import {
  type Ask,
  type Caller,
  type Got,
  LIMIT,
  RULES,
  SCHEMA,
  type Talk,
  type TestServer,
  TOOLS,
  type Turn,
} from '../caller.ts'
import type { Loose } from '../scene.ts'

class ContentsTalk implements Talk {
  private readonly client: GoogleGenAI
  private readonly model: string
  private readonly history: Content[] = []
  private pending: readonly { readonly id?: string; readonly name?: string }[] = []

  constructor({ address, key, model = 'm', retries = 0, headers = {} }: TestServer) {
    const retryOptions = retries === 0 ? {} : { retryOptions: { attempts: retries + 1 } }
    this.client = new GoogleGenAI({
      apiKey: key,
      httpOptions: { baseUrl: address, headers: { ...headers }, ...retryOptions },
    })
    this.model = model
  }

  async say(turn: Turn, ask: Ask): Promise<Got> {
    this.history.push({ role: 'user', parts: this.partsOf(turn) })
    const request: Loose = {
      model: this.model,
      contents: this.history,
      config: {
        systemInstruction: RULES,
        maxOutputTokens: LIMIT,
        ...(ask.tools
          ? {
              tools: [
                {
                  functionDeclarations: TOOLS.map(({ parameters, ...tool }) => ({
                    ...tool,
                    parametersJsonSchema: parameters,
                  })),
                },
              ],
            }
          : {}),
        ...(ask.thinks ? { thinkingConfig: { includeThoughts: true, thinkingLevel: ThinkingLevel.HIGH } } : {}),
        ...(ask.schema ? { responseMimeType: 'application/json', responseJsonSchema: SCHEMA } : {}),
        ...(ask.signal === undefined ? {} : { abortSignal: ask.signal }),
      },
    }
    const answers = ask.stream ? await this.streamed(request, ask) : [await this.client.models.generateContent(request)]
    const parts = answers.flatMap(answer => answer.candidates?.[0]?.content?.parts ?? [])
    this.history.push({ role: 'model', parts })
    const calls = parts.flatMap(({ functionCall }) => functionCall ?? [])
    this.pending = calls
    const usage = answers.at(-1)?.usageMetadata
    const said = (isThought: boolean) =>
      parts.map(({ text, thought }) => ((thought === true) === isThought ? (text ?? '') : '')).join('')
    return {
      text: said(false),
      thought: said(true),
      calls: calls.map(({ name, args }) => ({ name: name!, arguments: (args ?? {}) as Loose })),
      finish: answers.at(-1)?.candidates?.[0]?.finishReason,
      input: usage && (usage.promptTokenCount ?? 0) + (usage.toolUsePromptTokenCount ?? 0),
      output: usage === undefined ? undefined : (usage.candidatesTokenCount ?? 0) + (usage.thoughtsTokenCount ?? 0),
    }
  }

  private async streamed(request: Loose, { onText }: Ask): Promise<GenerateContentResponse[]> {
    const answers: GenerateContentResponse[] = []
    for await (const answer of await this.client.models.generateContentStream(request)) {
      answers.push(answer)
      if (answer.candidates?.[0]?.content?.parts?.some(({ text, thought }) => text && !thought)) onText?.()
    }
    return answers
  }

  private partsOf({ text, image, outputs = [] }: Turn): Part[] {
    return [
      ...outputs.map((response, index) => {
        const { id, name } = this.pending[index]!
        return { functionResponse: { ...(id === undefined ? {} : { id }), name: name!, response: response as Loose } }
      }),
      ...(text === undefined ? [] : [{ text }]),
      ...(image === undefined ? [] : [{ inlineData: { mimeType: 'image/png', data: image } }]),
    ]
  }
}

export const google: Caller = {
  name: 'google generateContent',
  format: 'contents',
  words: { stop: 'STOP', calls: 'STOP' },
  errors: () => 'ApiError',
  failure: thrown => {
    if (!(thrown instanceof ApiError)) throw thrown
    return { name: 'ApiError', status: thrown.status, message: thrown.message }
  },
  open: testServer => new ContentsTalk(testServer),
}
