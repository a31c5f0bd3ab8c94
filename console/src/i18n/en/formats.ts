/** English display names of the formats. */
export const formats: { readonly [format: string]: string } = {
  chat: 'Chat Completions',
  responses: 'Responses',
  messages: 'Messages',
  contents: 'Contents (Gemini)',
  completions: 'Completions',
  embeddings: 'Embeddings',
  rerank: 'Rerank',
  cohere: 'Cohere',
  images: 'Images',
  speech: 'Speech',
  transcriptions: 'Transcriptions',
  videos: 'Videos',
  generations: 'Video generations',
  veo: 'Veo',
  kling: 'Kling',
  deepgram: 'Deepgram',
  elevenlabs: 'ElevenLabs',
  realtime: 'Realtime',
  live: 'Live (Gemini)',
}

/** Short names where the display name is too long. */
export const shortFormats: { readonly [format: string]: string } = {
  chat: 'Chat',
  contents: 'Contents',
  generations: 'Generations',
  live: 'Live',
}
