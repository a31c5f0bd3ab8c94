import { groqSpeech, groqTranscriptions } from './groq.ts'
import type { StrictMediaVendor } from './media-vendor.ts'
import { mistralSpeech } from './mistral.ts'
import { openaiImages, openaiSpeech, openaiTranscriptions } from './openai.ts'
import { openrouterImages } from './openrouter.ts'
import {
  jinaEmbeddings,
  mistralEmbeddings,
  togetherEmbeddings,
  togetherRerank,
  voyageEmbeddings,
  voyageRerank,
} from './retrieval.ts'
import { togetherImages } from './together.ts'
import { xaiImages } from './xai.ts'

export const MEDIA_VENDORS: readonly StrictMediaVendor[] = [
  ...[openaiImages, openrouterImages, togetherImages, xaiImages],
  ...[groqSpeech, mistralSpeech, openaiSpeech, groqTranscriptions, openaiTranscriptions],
  ...[jinaEmbeddings, mistralEmbeddings, togetherEmbeddings, voyageEmbeddings, togetherRerank, voyageRerank],
]
