import type { formats as en } from '../en/formats.ts'

/** Chinese display names of the formats. */
export const formats: typeof en = {
  chat: 'Chat Completions',
  responses: 'Responses',
  messages: 'Messages',
  contents: 'Contents（Gemini）',
  completions: 'Completions（文本补全）',
  embeddings: 'Embeddings（向量）',
  rerank: 'Rerank（重排序）',
  cohere: 'Cohere',
  images: 'Images（图像）',
  speech: 'Speech（语音合成）',
  transcriptions: 'Transcriptions（转写）',
  videos: 'Videos（视频）',
  generations: 'Video generations（视频生成）',
  veo: 'Veo',
  kling: '可灵 Kling',
  deepgram: 'Deepgram',
  elevenlabs: 'ElevenLabs',
  realtime: 'Realtime（实时语音）',
  live: 'Live（Gemini）',
}
