import { type JsonObject, parseObject } from '../../src/canonical/node.ts'
import type { Script, Seen } from '../builders/upstream.ts'

/* Hand-written upstreams that embed. They use no code of the gateway. */

// biome-ignore lint/suspicious/noExplicitAny: its shape is what the tests are about
type Loose = any

/** A request as an upstream understood it. */
export interface Heard {
  readonly texts: readonly string[]
  readonly dimensions: number | undefined
  readonly purpose: string | undefined
}

export interface EmbeddingUpstream {
  hear(body: Loose, url: string): Heard
  answer(body: Loose, texts: readonly string[], url: string): JsonObject
}

/** Returns a vector that depends on the text. All its numbers are 32-bit floats. */
export function vectorOf(text: string): number[] {
  const codes = [...text].map(letter => letter.codePointAt(0)!)
  const sum = codes.reduce((total, code, index) => (total * 31 + code * (index + 1)) % 65536, 7)
  return [sum / 65536, -sum / 1024, text.length / 8, Math.fround(0.1)]
}

/** Counts one token per word, as every one of these upstreams does. */
export const tokensOf = (texts: readonly string[]): number =>
  texts.reduce((count, text) => count + text.split(' ').length, 0)

const base64Of = (vector: readonly number[]): string => {
  const bytes = Buffer.alloc(vector.length * 4)
  vector.forEach((value, index) => void bytes.writeFloatLE(value, index * 4))
  return bytes.toString('base64')
}

/** Returns the inputs. Token ids become their digits. */
const inputsOf = ({ input }: Loose): string[] => (Array.isArray(input) ? input : [input]).map(String)

const embeddings: EmbeddingUpstream = {
  hear: body => ({ texts: inputsOf(body), dimensions: body.dimensions, purpose: undefined }),
  answer: ({ encoding_format, model }, texts) => ({
    object: 'list',
    data: texts.map((text, index) => ({
      object: 'embedding',
      index,
      embedding: encoding_format === 'base64' ? base64Of(vectorOf(text)) : vectorOf(text),
    })),
    model,
    usage: { prompt_tokens: tokensOf(texts), total_tokens: tokensOf(texts) },
  }),
}

const textOf = ({ parts }: Loose): string => parts.map(({ text }: Loose) => text).join('')

const contents: EmbeddingUpstream = {
  hear: (body, url) => {
    const requests: Loose[] = url.endsWith(':embedContent') ? [body] : body.requests
    const [first] = requests
    return {
      texts: requests.map(({ content }) => textOf(content)),
      dimensions: first.outputDimensionality,
      purpose: first.taskType,
    }
  },
  answer: (_, texts, url) => {
    const vectors = texts.map(text => ({ values: vectorOf(text) }))
    const usageMetadata = { promptTokenCount: tokensOf(texts) }
    return url.endsWith(':embedContent')
      ? { embedding: vectors[0]!, usageMetadata }
      : { embeddings: vectors, usageMetadata }
  },
}

const cohere: EmbeddingUpstream = {
  hear: ({ texts, inputs, output_dimension, input_type }) => ({
    texts: texts ?? inputs.map(({ content }: Loose) => content.map(({ text }: Loose) => text).join('')),
    dimensions: output_dimension,
    purpose: input_type,
  }),
  answer: ({ embedding_types = ['float'] }, texts) => ({
    id: 'up',
    embeddings: embedding_types.includes('base64')
      ? { base64: texts.map(text => base64Of(vectorOf(text))) }
      : { float: texts.map(vectorOf) },
    texts,
    meta: { api_version: { version: '2' }, billed_units: { input_tokens: tokensOf(texts) } },
    response_type: 'embeddings_by_type',
  }),
}

export const UPSTREAMS: { readonly [format: string]: EmbeddingUpstream } = { embeddings, contents, cohere }

/** Returns the request as an upstream of the format understood it. */
export const heard = (format: string, { text, url }: Seen): Heard => UPSTREAMS[format]!.hear(parseObject(text), url)

export const embedding =
  (format: string): Script =>
  (response, seen) => {
    const { texts } = heard(format, seen)
    const text = JSON.stringify(UPSTREAMS[format]!.answer(parseObject(seen.text), texts, seen.url))
    response.writeHead(200, { 'content-type': 'application/json' }).end(text)
  }
