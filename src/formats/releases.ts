import type { Format } from '../canonical/node.ts'

/** The SDK release against whose types the gateway was last checked (docs/newer.md). */
export interface Release {
  readonly package: string
  readonly version: string
}

const OPENAI: Release = { package: 'openai', version: '7.55.0' }

/** Releases by format. A test compares them with the installed packages. */
export const RELEASES: { readonly [format: Format]: Release } = {
  ...{ chat: OPENAI, responses: OPENAI, completions: OPENAI, embeddings: OPENAI, images: OPENAI },
  ...{ speech: OPENAI, transcriptions: OPENAI, videos: OPENAI, realtime: OPENAI },
  messages: { package: '@anthropic-ai/sdk', version: '1.14.0' },
  contents: { package: '@google/genai', version: '3.1.0' },
  cohere: { package: 'cohere-ai', version: '8.1.0' },
}
