import type { Preset } from '../preset.ts'

/** Cohere accepts at most 96 inputs per request (docs/wire/embeddings.md#cohere). */
export const cohere: Preset = {
  name: 'cohere',
  env: ['COHERE_API_KEY', 'CO_API_KEY'],
  formats: [
    { format: 'cohere-chat', baseUrl: 'https://api.cohere.com' },
    { format: 'cohere', baseUrl: 'https://api.cohere.com', dialect: { batch: 96 } },
  ],
}

export const voyage: Preset = {
  name: 'voyage',
  env: ['VOYAGE_API_KEY'],
  formats: [
    {
      format: 'embeddings',
      baseUrl: 'https://api.voyageai.com/v1',
      dialect: {
        dimensions_field: 'output_dimension',
        float_encoding: false,
        purpose_field: 'input_type',
        end_user: false,
        tokens: false,
        batch: 1000,
        batch_tokens: 120_000,
      },
    },
    { format: 'rerank', baseUrl: 'https://api.voyageai.com/v1', dialect: { top_field: 'top_k', documents: 'text' } },
  ],
}

export const jina: Preset = {
  name: 'jina',
  env: ['JINA_API_KEY'],
  formats: [
    {
      format: 'embeddings',
      baseUrl: 'https://api.jina.ai/v1',
      dialect: {
        dimensions_field: 'dimensions',
        encoding_field: 'embedding_type',
        purpose_field: 'task',
        image_input: true,
        end_user: false,
        tokens: false,
        batch: 512,
      },
    },
    { format: 'rerank', baseUrl: 'https://api.jina.ai/v1', dialect: { top_field: 'top_n' } },
  ],
}
