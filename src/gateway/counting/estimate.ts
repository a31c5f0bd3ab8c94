import type { Part } from '../../canonical/content.ts'
import { append } from '../../canonical/lists.ts'
import type { Format } from '../../canonical/node.ts'
import { isRedundant } from '../../canonical/repair.ts'
import type { CanonicalRequest, Message } from '../../canonical/request.ts'
import type { Tool } from '../../canonical/tool.ts'
import { tokenEstimates } from '../../formats/index.ts'
import { mediaTokens } from './media-tokens.ts'
import { tokensIn } from './tokens.ts'

/**
 * Number of invisible tokens around a request, a turn, a tool call or result, and a tool definition. Upstreams charge
 * for these tokens.
 */
const OVERHEAD = { request: 3, message: 4, call: 8, tool: 8 }

/**
 * Estimates the tokens of a request for an upstream of the format (trap 80): text, tools and their schemas, tool calls,
 * results, reasoning and media. Errs on the high side, because callers shorten their history by the estimate.
 */
export async function estimate(request: CanonicalRequest, format: Format): Promise<number> {
  const inputs = new TokenInputs(format)
  for (const message of request.messages) inputs.message(message)
  inputs.settings(request)
  return inputs.tokens()
}

/** Collects everything in a request, or part of a request, that costs tokens at an upstream of the format. */
export class TokenInputs {
  private readonly texts: string[] = []
  private readonly format: Format
  private overhead = 0
  private media = 0

  constructor(format: Format) {
    this.format = format
  }

  /** Returns the estimated number of tokens. */
  async tokens(): Promise<number> {
    return this.overhead + this.media + Math.ceil((await tokensIn(this.texts)) * this.factor)
  }

  /** Upper bound that needs no vocabulary, because no token is shorter than a byte. */
  get upperBound(): number {
    const bytes = this.texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
    return this.overhead + this.media + Math.ceil(bytes * this.factor)
  }

  private get factor(): number {
    return tokenEstimates(this.format).factor
  }

  /** Adds the tools and the schema of the answer. */
  settings({ tools = [], output: { text } }: CanonicalRequest): void {
    this.overhead += OVERHEAD.request
    for (const tool of tools) {
      this.overhead += OVERHEAD.tool
      this.texts.push(textOfTool(tool))
    }
    if (tools.length > 0) this.overhead += tokenEstimates(this.format).toolsPreamble
    if (text?.shape === 'schema' || text?.shape === 'enum') this.texts.push(JSON.stringify(text.schema))
  }

  message({ content, name }: Message): void {
    this.overhead += OVERHEAD.message
    if (name !== undefined) this.texts.push(name)
    this.parts(content)
  }

  private parts(content: readonly Part[]): void {
    for (const part of content) this.part(part)
  }

  private part(part: Part): void {
    switch (part.type) {
      case 'text':
      case 'refusal':
        this.texts.push(part.text)
        return
      case 'reasoning':
        // Encrypted reasoning is about as long as its signature.
        this.texts.push(part.text === '' ? (part.signature?.value ?? '').slice(0, MAX_SIGNATURE_LENGTH) : part.text)
        return
      case 'media':
        if (part.source.type === 'text') this.texts.push(part.source.text)
        if (part.name !== undefined) this.texts.push(part.name)
        this.media += mediaTokens(part, this.format)
        return
      case 'tool-call':
        this.overhead += OVERHEAD.call
        this.texts.push(part.name, part.arguments)
        return
      case 'tool-result':
        this.overhead += OVERHEAD.call
        this.parts(part.content)
        return
      case 'search-call':
        this.overhead += OVERHEAD.call
        append(this.texts, part.queries)
        return
      case 'search-result':
        this.overhead += OVERHEAD.call
        this.texts.push(JSON.stringify(part.sources))
        return
      case 'opaque':
        if (!isRedundant(part)) this.texts.push(part.text ?? JSON.stringify(part.value))
        return
      case 'embedding':
      case 'rank':
        return
    }
  }
}

/**
 * Maximum number of characters of a signature that count for hidden reasoning. Signatures are longer than their
 * reasoning.
 */
const MAX_SIGNATURE_LENGTH = 2000

function textOfTool(tool: Tool): string {
  if (tool.type === 'opaque') return JSON.stringify(tool.value)
  if (tool.type === 'hosted') return tool.kind
  const { extras: _, spelling: __, ...fields } = tool
  return JSON.stringify(fields)
}
