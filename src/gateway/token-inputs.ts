import type { OpaquePart, Part } from '../canonical/content.ts'
import { loadOnce } from '../canonical/load-once.ts'
import type { CanonicalRequest, Message } from '../canonical/request.ts'
import { tokenIdsOf } from '../canonical/token-ids.ts'
import { workOf } from '../canonical/work.ts'
import type { Target } from '../upstreams/router.ts'

/*
 * Inputs to embed that are token ids. LangChain's OpenAIEmbeddings sends ids of the vocabulary cl100k_base whatever the
 * model is, because it knows no other vocabulary (docs/wire/embeddings.md#openai).
 */

type Decode = (tokens: Iterable<number>) => string

/** The vocabulary `cl100k_base`, loaded on first use because it takes 40 MB. */
const vocabulary = loadOnce<Decode>(async () => (await import('gpt-tokenizer/encoding/cl100k_base')).decode)

/** Returns true if a request has inputs of token ids and the target takes only texts. */
export const needsTokenTexts = (request: CanonicalRequest, { native, format: { dialect } }: Target): boolean =>
  (!native || dialect['tokens'] === false) &&
  workOf(request) === 'embedding' &&
  request.messages.some(({ content }) => content.some(part => tokenIdsOf(part) !== undefined))

/** Returns the request with the text of each input of token ids. Ids that the vocabulary lacks get no text. */
export async function withTokenTexts(request: CanonicalRequest): Promise<CanonicalRequest> {
  const decode = await vocabulary()
  return { ...request, messages: request.messages.map(message => withTexts(message, decode)) }
}

const withTexts = (message: Message, decode: Decode): Message => {
  const content = message.content.map((part): Part => {
    const tokens = tokenIdsOf(part)
    const text = tokens === undefined ? undefined : textOf(tokens, decode)
    return text === undefined ? part : { ...(part as OpaquePart), text }
  })
  return content.every((part, index) => part === message.content[index]) ? message : { ...message, content }
}

function textOf(tokens: readonly number[], decode: Decode): string | undefined {
  try {
    return decode(tokens)
  } catch {
    return undefined
  }
}
