import { type Json, type JsonObject, listOf, numberOf, objectOf, parseJson, textOf } from '../../json.ts'

/* Assembles the events of a stream into a message. Source: https://platform.claude.com/docs/en/build-with-claude/streaming */

type Fields = { [field: string]: Json }

const concatenated = (before: Json | undefined, more: Json | undefined): string =>
  (textOf(before) ?? '') + (textOf(more) ?? '')

/** The function that adds each kind of delta to its block. */
const DELTAS: { readonly [type: string]: (block: Fields, delta: JsonObject) => void } = {
  text_delta: (block, { text }) => (block['text'] = concatenated(block['text'], text)),
  thinking_delta: (block, { thinking }) => (block['thinking'] = concatenated(block['thinking'], thinking)),
  signature_delta: (block, { signature }) => (block['signature'] = signature ?? ''),
  citations_delta: (block, { citation }) => (block['citations'] = [...listOf(block['citations']), citation ?? null]),
}

class PartialMessage {
  message: Fields = {}
  private readonly blocks = new Map<number, Fields>()
  private readonly inputs = new Map<number, string>()

  add(event: JsonObject): void {
    const index = numberOf(event['index']) ?? 0
    if (event['type'] === 'message_start') this.message = { ...objectOf(event['message']) }
    else if (event['type'] === 'content_block_start') this.blocks.set(index, { ...objectOf(event['content_block']) })
    else if (event['type'] === 'content_block_delta') this.delta(index, objectOf(event['delta']))
    else if (event['type'] === 'message_delta') this.end(event)
  }

  whole(): JsonObject {
    for (const [index, text] of this.inputs) {
      const block = this.blocks.get(index)
      if (block !== undefined && text !== '') block['input'] = parseJson(text) ?? { unparsed: text }
    }
    const content = [...this.blocks].sort(([a], [b]) => a - b).map(([, block]) => block)
    return { ...this.message, content }
  }

  private delta(index: number, delta: JsonObject): void {
    const block = this.blocks.get(index)
    if (block === undefined) return
    if (delta['type'] === 'input_json_delta')
      this.inputs.set(index, (this.inputs.get(index) ?? '') + (textOf(delta['partial_json']) ?? ''))
    else DELTAS[textOf(delta['type']) ?? '']?.(block, delta)
  }

  /** Applies the end of the stream. Usage is cumulative, so its counts replace those of the start. */
  private end({ delta, usage }: JsonObject): void {
    const counts = Object.entries(objectOf(usage)).filter(([, count]) => count !== null)
    const before = objectOf(this.message['usage'])
    this.message = { ...this.message, ...objectOf(delta), usage: { ...before, ...Object.fromEntries(counts) } }
  }
}

/** Assembles a stream's events into a message. */
export function assemble(events: readonly Json[]): JsonObject {
  const assembly = new PartialMessage()
  for (const event of events) assembly.add(objectOf(event))
  return assembly.whole()
}
