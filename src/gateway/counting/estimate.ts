import type { MediaPart, Part } from '../../canonical/content.ts'
import type { Format } from '../../canonical/node.ts'
import { isRedundant } from '../../canonical/redundant.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Tool } from '../../canonical/tool.ts'
import { mediaTokens } from './media-tokens.ts'
import { tokensIn } from './tokens.ts'

/** What stands around a request, a turn, a call or result in it, and a tool: marks nobody sees, but pays. */
const AROUND = { request: 3, message: 4, call: 8, tool: 8 }
/** What upstreams write before the tools. */
const TOOLS_PREAMBLE: { readonly [format: Format]: number } = { messages: 300 }
/** How many tokens makers have for one of the vocabulary that is counted by, taken rather high. */
const FACTOR: { readonly [format: Format]: number } = { messages: 1.2, contents: 1.05 }

/**
 * About how many tokens a request is to an upstream of the format (trap 80): all text with tools and their schemas,
 * calls, results and thoughts, and its media. Rather too many than too few: callers cut their history by it.
 */
export async function estimate(request: CanonicalRequest, format: Format): Promise<number> {
  const gathered = new Gathered()
  for (const { content, name } of request.messages) {
    gathered.marks += AROUND.message
    if (name !== undefined) gathered.texts.push(name)
    gathered.parts(content)
  }
  for (const tool of request.tools ?? []) {
    gathered.marks += AROUND.tool
    gathered.texts.push(textOfTool(tool))
  }
  if (request.tools !== undefined && request.tools.length > 0) gathered.marks += TOOLS_PREAMBLE[format] ?? 0
  const { text } = request.output
  if (text?.shape === 'schema') gathered.texts.push(JSON.stringify(text.schema))
  const media = gathered.media.map(part => mediaTokens(part, format))
  const words = Math.ceil((await tokensIn(gathered.texts)) * (FACTOR[format] ?? 1))
  return AROUND.request + gathered.marks + words + media.reduce((sum, tokens) => sum + tokens, 0)
}

/** Everything of a request that costs something. */
class Gathered {
  readonly texts: string[] = []
  readonly media: MediaPart[] = []
  marks = 0

  parts(content: readonly Part[]): void {
    for (const part of content) this.part(part)
  }

  private part(part: Part): void {
    switch (part.type) {
      case 'text':
      case 'refusal':
        this.texts.push(part.text)
        return
      case 'reasoning':
        // A hidden thought is about as long as what hides it.
        this.texts.push(part.text === '' ? (part.signature?.value ?? '').slice(0, HIDDEN) : part.text)
        return
      case 'media':
        if (part.source.type === 'text') this.texts.push(part.source.text)
        if (part.name !== undefined) this.texts.push(part.name)
        this.media.push(part)
        return
      case 'tool-call':
        this.marks += AROUND.call
        this.texts.push(part.name, part.arguments)
        return
      case 'tool-result':
        this.marks += AROUND.call
        this.parts(part.content)
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

/** Characters of a hidden thought's cover that are counted: it is longer than the thought. */
const HIDDEN = 2000

function textOfTool(tool: Tool): string {
  if (tool.type === 'opaque') return JSON.stringify(tool.value)
  if (tool.type === 'hosted') return tool.kind
  const { extras: _, spelling: __, ...said } = tool
  return JSON.stringify(said)
}
