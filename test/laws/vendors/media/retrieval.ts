import { noFields, oneOf, type StrictMediaVendor } from './media-vendor.ts'

/* Vendors of vectors and rankings. */

const VOYAGE =
  '"Argument \'dimensions\' is not supported by our API" (410979729/scope-recall-hermes#88), read on 2026-12-01'
const JINA = 'QuantumNous/new-api#1941 ("Extra inputs are not permitted"), 1Panel-dev/MaxKB#2639, read on 2026-12-01'
const MISTRAL = 'mistralai 3.7.0 (PyPI), `EmbeddingRequest`, read on 2026-12-01'
const TOGETHER = '"Unrecognized request arguments supplied" (ogx-ai/ogx#3559), read on 2026-12-01'

const isTokens = (input: unknown): boolean => Array.isArray(input) || typeof input === 'number'

/** Rule of vendors that take texts only. */
const textOnly = (source: string) => ({
  error: 'input must be texts',
  source,
  refuses: ({ input }: { input: unknown }) => Array.isArray(input) && input.some(isTokens),
  example: { input: [[1, 2]] },
  native: true as const,
})

export const voyageEmbeddings: StrictMediaVendor = {
  preset: 'voyage',
  format: 'embeddings',
  work: 'embedding',
  models: ['voyage-4', 'voyage-3-large'],
  refusals: [
    ...noFields({ dimensions: 256, user: 'a', task: 'retrieval.query' }, VOYAGE),
    oneOf('encoding_format', ['base64'], 'float', 'LiteLLM 1.110.2, `voyage/embedding`, read on 2026-12-01'),
    textOnly(VOYAGE),
  ],
}

export const voyageRerank: StrictMediaVendor = {
  preset: 'voyage',
  format: 'rerank',
  work: 'ranking',
  models: ['rerank-2.5'],
  refusals: [
    ...noFields({ top_n: 1 }, 'LiteLLM 1.110.2, `voyage/rerank`, read on 2026-12-01'),
    {
      error: 'top_k must not exceed the number of documents',
      source: 'diegosouzapw/OmniRoute#12523 (September 2026), read on 2026-12-01',
      refuses: body => body.top_k > body.documents.length,
      example: { top_k: 9 },
      native: true,
    },
  ],
}

export const jinaEmbeddings: StrictMediaVendor = {
  preset: 'jina',
  format: 'embeddings',
  work: 'embedding',
  models: ['jina-embeddings-v3', 'jina-embeddings-v4', 'jina-embeddings-v5-text-small'],
  refusals: [
    ...noFields({ encoding_format: 'float', user: 'a', input_type: 'query', output_dimension: 256 }, JINA),
    textOnly(JINA),
  ],
}

export const mistralEmbeddings: StrictMediaVendor = {
  preset: 'mistral',
  format: 'embeddings',
  work: 'embedding',
  models: ['mistral-embed', 'codestral-embed'],
  refusals: [...noFields({ dimensions: 256, user: 'a' }, MISTRAL), textOnly(MISTRAL)],
}

export const togetherEmbeddings: StrictMediaVendor = {
  preset: 'together',
  format: 'embeddings',
  work: 'embedding',
  models: ['intfloat/multilingual-e5-large-instruct'],
  refusals: [
    ...noFields({ dimensions: 256, user: 'a' }, TOGETHER),
    textOnly('together 3.1.1 (PyPI), `EmbeddingCreateParams`'),
  ],
}

export const togetherRerank: StrictMediaVendor = {
  preset: 'together',
  format: 'rerank',
  work: 'ranking',
  models: ['Salesforce/Llama-Rank-v1'],
  refusals: noFields({ top_k: 1 }, 'together 3.1.1 (PyPI), `RerankCreateParams`, read on 2026-12-01'),
}
